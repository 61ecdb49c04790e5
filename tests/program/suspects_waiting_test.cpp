// What waits to be done: queues, tasks, suspended generators, buffered log records.

#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// asyncio's Task, which waits for `future` in the function `name`, where it has `locals`.
Address waiting_task(ProgramHeap& program, Address type, const std::string& name,
                     const ProgramHeap::Named& locals, Address future) {
    const auto& l = program.heap.layout().task;
    const Address made = program.object(type);
    program.heap.set(made, l.coro, program.generator(name, locals, "coroutine"));
    program.heap.set(made, l.waiter, future);
    return made;
}

}  // namespace

TEST_CASE("suspects: a queue says how many items nobody has taken, and its bound", "[program][suspects]") {
    struct Case {
        std::string module, name, items, bound;
        std::int64_t maxsize;
    };
    const auto of = GENERATE(values<Case>({{"queue", "Queue", "queue", "maxsize", 0},
                                           {"queue", "Queue", "queue", "maxsize", 500},
                                           {"asyncio.queues", "Queue", "_queue", "_maxsize", 0},
                                           {"multiprocessing.queues", "Queue", "_buffer", "_maxsize", -1}}));
    ProgramHeap program;
    const Address type =
        program.class_with(of.name, {.module = of.module, .attributes = {of.items, of.bound}});
    const Address items = deque(program, payloads(program, 20)),
                  inbox = program.instance_with(type, {items, program.heap.integer(of.maxsize)});
    program.module("app", "/srv/app/app.py", {{"Queue", type}, {"INBOX", inbox}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(inbox) == "queue");
    const bool bounded = of.maxsize > 0;
    CHECK(suspected.words_of(inbox) == (of.module.front() == 'a' ? "an " : "a ") + of.module + "." + of.name +
                                           " with 20 items that nobody has taken; " +
                                           (bounded ? "maxsize=500" : "it has no bound"));
    CHECK(suspected.fix_of(inbox) ==
          (bounded ? "lower maxsize, or add consumers" : "give it a maxsize, so that producers wait"));
    CHECK(suspected.of(inbox).usual == bounded);
}

TEST_CASE("suspects: calls that an executor has not started, by function", "[program][suspects]") {
    const bool method = GENERATE(false, true), threads = GENERATE(false, true);
    ProgramHeap program;
    const Address type = program.class_with(
        "_WorkItem", {.module = threads ? "concurrent.futures.thread" : "concurrent.futures.process",
                      .slots = {"future", "fn", "args"}});
    const Address upload = program.function("Uploader.upload"),
                  self = program.object(program.python_class("Uploader", {}));
    std::vector<Address> items;
    for (int i = 0; i < 20; ++i)
        items.push_back(program.instance(
            type, {program.heap.none(), method ? bound_method(program, self, upload) : upload,
                   program.heap.tuple({payload(program)})}));
    const Address waiting = program.list(items);
    program.module("app", "/srv/app/app.py", {{"WAITING", waiting}, {"types", program.list({type, upload})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(waiting) == "executor-backlog");
    CHECK(suspected.words_of(waiting) ==
          std::string("20 calls that a ") +
              (threads ? "ThreadPoolExecutor has not started" : "ProcessPoolExecutor has not finished") +
              ": Uploader.upload(), app.py:10; each keeps its arguments");
    CHECK(suspected.of(waiting).made_by == std::vector<std::string>{"submit"});
    CHECK(suspected.of(waiting).made_of == std::vector<std::string>{"upload"});
}

TEST_CASE("suspects: loggers in logging's own table", "[program][suspects]") {
    const bool of_logging = GENERATE(false, true);
    ProgramHeap program;
    const Address logger = program.class_with("Logger", {.module = "logging", .slots = {"filters"}}),
                  manager = program.class_with(
                      "Manager", {.module = of_logging ? "logging" : "app", .attributes = {"loggerDict"}});
    Entries loggers;
    for (int i = 0; i < 20; ++i)
        loggers.emplace_back(program.heap.str("gate." + std::to_string(i)),
                             program.instance(logger, {payload(program)}));
    const Address table = program.dict_of(loggers);
    program.module(
        "app", "/srv/app/app.py",
        {{"types", program.list({logger, manager})}, {"MANAGER", program.instance_with(manager, {table})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(table) == (of_logging ? "loggers" : "container"));
    if (!of_logging) return;
    CHECK_THAT(suspected.words_of(table),
               ContainsSubstring("20 loggers, which logging never frees; each Logger keeps"));
    CHECK(suspected.fix_of(table) == "one logger for all, with a logging.LoggerAdapter or extra=");
    CHECK(suspected.of(table).made_by == std::vector<std::string>{"getLogger"});
}

TEST_CASE("suspects: the bound of a queue is found in a dict of attributes as well", "[program][suspects]") {
    ProgramHeap program;
    // As before 3.11: the instance has a word for its dict.
    const Address type =
        program.heap.c_type("queue.Queue", {.basicsize = 24, .flags = test::have_gc_flag, .dictoffset = 16});
    const Address inbox = program.object(type), items = deque(program, payloads(program, 20));
    program.heap.put(inbox + 16, program.dict({{"queue", items}, {"maxsize", program.heap.integer(500)}}));
    program.module("app", "/srv/app/app.py", {{"INBOX", inbox}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(inbox) == "queue");
    CHECK(suspected.words_of(inbox) == "a queue.Queue with 20 items that nobody has taken; maxsize=500");
}

TEST_CASE("suspects: what a queue keeps besides its items does not wait in it", "[program][suspects]") {
    ProgramHeap program;
    const Address base = program.class_with("Queue", {.module = "queue", .attributes = {"queue"}}),
                  own = program.class_with("Jobs", {.base = base, .attributes = {"queue", "history"}});
    const Address history = program.list(payloads(program, 20));
    const Address jobs = program.instance_with(own, {program.list({}), history});
    program.module("app", "/srv/app/app.py", {{"base", base}, {"Jobs", own}, {"JOBS", jobs}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(history) == "container");
    CHECK(suspected.words_of(history) == "a list in an object of type app.Jobs");
}

TEST_CASE("suspects: a class that derives from Queue is one; another of that name is not",
          "[program][suspects]") {
    ProgramHeap program;
    const Address base = program.class_with("Queue", {.module = "queue", .attributes = {"queue", "maxsize"}}),
                  own = program.class_with("Jobs", {.base = base, .attributes = {"queue", "maxsize"}}),
                  other = program.class_with("Queue", {.attributes = {"queue", "maxsize"}});
    const Address jobs = program.instance_with(
                      own, {program.list(payloads(program, 20)), program.heap.str("unlimited")}),
                  track = program.instance_with(
                      other, {program.list(payloads(program, 20)), program.heap.integer(5)});
    program.module("app", "/srv/app/app.py",
                   {{"base", base}, {"Jobs", own}, {"Queue", other}, {"JOBS", jobs}, {"TRACK", track}});
    const Suspected suspected(program);
    // What the program stored as maxsize is no number, so nothing is said of a bound.
    CHECK(suspected.words_of(jobs) == "an app.Jobs with 20 items that nobody has taken");
    CHECK(suspected.kind_of(track) == "container");
}

TEST_CASE("suspects: tasks say where they wait, and whether anything can end it", "[program][suspects]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const std::uint32_t weak_list = *heap.layout().task.waiter - 8;  // no field of a task that holds anything
    const Address type = heap.c_type("_asyncio.Task",
                                     {.basicsize = *heap.layout().task.size, .flags = test::have_gc_flag}),
                  future_type = heap.c_type("_asyncio.Future", {.basicsize = *heap.layout().future.size,
                                                                .flags = test::have_gc_flag}),
                  reader_type = heap.c_type("fast.Reader", {.basicsize = 24});
    heap.set(reader_type, heap.layout().type.tp_weaklistoffset, std::int64_t{16});
    heap.set(type, heap.layout().type.tp_weaklistoffset, std::int64_t{weak_list});
    // Who may complete the future: nobody, a list of the program, C code that was not found, whoever has a weak
    // reference to what the task alone keeps; or few of the tasks have one.
    const std::string holder = GENERATE("nobody", "a list", "C code", "a weak reference", "few have one");
    std::vector<Address> tasks, futures, all_tasks;
    for (int i = 0; i < 20; ++i) {
        const Address future = holder == "few have one" && i > 5 ? Address() : program.object(future_type);
        const Address reader = program.object(reader_type);
        if (holder == "a weak reference") {
            futures.push_back(weak_reference(program, reader));
            heap.put(reader + 16, futures.back());
        }
        tasks.push_back(
            waiting_task(program, type, "poll", {{"body", payload(program)}, {"reader", reader}}, future));
        // asyncio itself has each task by a weak reference (_all_tasks), which completes nothing.
        all_tasks.push_back(weak_reference(program, tasks.back()));
        heap.put(tasks.back() + weak_list, all_tasks.back());
        if (holder == "a list") futures.push_back(future);
        if (holder == "C code") program.leak(future, 1);
    }
    const Address waiting = program.list(tasks);
    program.module(
        "app", "/srv/app/app.py",
        {{"WAITING", waiting}, {"FUTURES", program.list(futures)}, {"ALL_TASKS", program.list(all_tasks)}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(waiting) == "tasks");
    if (holder == "nobody") {
        CHECK(suspected.words_of(waiting) ==
              "tasks suspended in poll(), app.py; each keeps `body` (4040 bytes); each waits for a future "
              "that nothing else holds, so "
              "nothing can complete it");
        CHECK(suspected.fix_of(waiting) ==
              "keep the future where its result is set, and wait with asyncio.wait_for");
    } else {
        CHECK(suspected.words_of(waiting) ==
              "tasks suspended in poll(), app.py; each keeps `body` (4040 bytes)");
        CHECK(
            suspected.fix_of(waiting) ==
            "cancel() what is done with, limit how many wait at once (asyncio.Semaphore), or set a timeout");
    }
}

TEST_CASE("suspects: suspended generators, coroutines and asynchronous generators, with what each keeps",
          "[program][suspects]") {
    const auto [type, word] =
        GENERATE(table<std::string, std::string>({{"generator", "generators"},
                                                  {"coroutine", "coroutines"},
                                                  {"async_generator", "asynchronous generators"}}));
    ProgramHeap program;
    std::vector<Address> generators;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = payload(program);
        generators.push_back(program.generator("rows", {{"body", last}}, type));
    }
    const Address suspended = program.list(generators);
    program.module("app", "/srv/app/app.py", {{"SUSPENDED", suspended}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(suspended) == "suspended");
    CHECK(suspected.words_of(suspended) ==
          word + " suspended in rows(), app.py; each keeps `body` (" + suspected.size_of(last) + ")");
    CHECK(suspected.fix_of(suspended) == "run them to their end, or call close() on them");
}

TEST_CASE("suspects: generators that have ended do not wait", "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> generators;
    for (int i = 0; i < 200; ++i) {
        generators.push_back(program.generator("rows", {{"number", program.heap.real(i)}}));
        program.heap.set(generators.back(), program.heap.layout().generator.gi_frame_state,
                         std::int8_t{4});  // FRAME_CLEARED
    }
    const Address ended = program.list(generators);
    program.module("app", "/srv/app/app.py", {{"ENDED", ended}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(ended) == "module-container");
}

TEST_CASE("suspects: a generator whose locals have about as much each is told without one",
          "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> generators;
    for (int i = 0; i < 20; ++i)
        generators.push_back(program.generator(
            "rows", {{"a", payload(program)}, {"b", payload(program)}, {"c", payload(program)}}));
    const Address suspended = program.list(generators);
    program.module("app", "/srv/app/app.py", {{"SUSPENDED", suspended}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(suspended) == "generators suspended in rows(), app.py");
}

TEST_CASE("suspects: what a local's attribute keeps is told by the local", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with("Reader", {.attributes = {"buffer"}});
    std::vector<Address> generators;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = program.instance_with(type, {payload(program)});
        generators.push_back(program.generator("Reader.rows", {{"self", last}}));
    }
    const Address suspended = program.list(generators);
    program.module("app", "/srv/app/app.py", {{"Reader", type}, {"SUSPENDED", suspended}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(suspended) ==
          "generators suspended in Reader.rows(), app.py; each keeps `self` (" + suspected.size_of(last) +
              ")");
}

TEST_CASE("suspects: log records, and the handler that buffers them", "[program][suspects]") {
    ProgramHeap program;
    const bool with_target = GENERATE(false, true);
    const Address record =
                      program.class_with("LogRecord", {.module = "logging", .attributes = {"msg", "args"}}),
                  own_record = program.class_with("Record", {.base = record, .attributes = {"msg", "args"}}),
                  plain_record = program.class_with("Plain", {.base = record, .attributes = {"msg"}}),
                  handler = program.class_with("Handler", {.module = "logging"}),
                  memory_handler =
                      program.class_with("MemoryHandler", {.base = handler,
                                                           .module = "logging.handlers",
                                                           .attributes = {"buffer", "capacity", "target"}});
    const auto records = [&](Address type) {
        std::vector<Address> made;
        for (int i = 0; i < 20; ++i)
            made.push_back(program.instance_with(
                type,
                type == plain_record
                    ? std::vector<Address>{payload(program)}
                    : std::vector<Address>{payload(program), program.heap.tuple({program.heap.integer(i)})}));
        return program.list(made);
    };
    const Address buffer = records(record), kept = records(own_record), plain = records(plain_record),
                  target = with_target ? program.instance_with(handler, {}) : program.heap.none(),
                  buffering =
                      program.instance_with(memory_handler, {buffer, program.heap.integer(100'000), target});
    program.module("app", "/srv/app/app.py",
                   {{"LogRecord", record},
                    {"Record", own_record},
                    {"Plain", plain_record},
                    {"HANDLER", buffering},
                    {"KEPT", kept},
                    {"PLAIN", plain}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(buffer) == "log-records");
    CHECK(suspected.words_of(buffer) == "log records that a MemoryHandler buffers, capacity=100000");
    CHECK(suspected.fix_of(buffer) == (with_target ? "lower capacity or flushLevel"
                                                   : "lower capacity or flushLevel, or give it a target"));
    CHECK(suspected.kind_of(kept) == "log-records");
    CHECK(suspected.words_of(kept) == "log records that are kept, with the arguments of each call");
    CHECK(suspected.fix_of(kept) == "keep record.getMessage(), not the record");
    CHECK(suspected.words_of(plain) == "log records that are kept");
    CHECK(suspected.fix_of(plain) == "keep only the last few: collections.deque(maxlen=…)");
}

TEST_CASE("suspects: a handler without a capacity does not buffer what it keeps", "[program][suspects]") {
    ProgramHeap program;
    const Address record =
                      program.class_with("LogRecord", {.module = "logging", .attributes = {"msg", "args"}}),
                  handler = program.class_with("Handler", {.module = "logging"}),
                  own_handler =
                      program.class_with("ListHandler", {.base = handler, .attributes = {"records"}});
    std::vector<Address> kept;
    for (int i = 0; i < 20; ++i)
        kept.push_back(program.instance_with(record, {payload(program), program.heap.tuple({})}));
    const Address records = program.list(kept), keeps = program.instance_with(own_handler, {records});
    program.module(
        "app", "/srv/app/app.py",
        {{"LogRecord", record}, {"Handler", handler}, {"ListHandler", own_handler}, {"HANDLER", keeps}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(records) == "log-records");
    CHECK(suspected.words_of(records) == "log records that are kept, with the arguments of each call");
    CHECK(suspected.fix_of(records) == "keep record.getMessage(), not the record");
}

TEST_CASE("suspects: log records in a queue, and who takes them", "[program][suspects]") {
    ProgramHeap program;
    const Address record = program.class_with("LogRecord", {.module = "logging", .attributes = {"msg"}}),
                  queue = program.class_with("Queue", {.module = "queue", .attributes = {"queue"}});
    std::vector<Address> waiting;
    for (int i = 0; i < 20; ++i) waiting.push_back(program.instance_with(record, {payload(program)}));
    const Address records = program.list(waiting), jobs = program.instance_with(queue, {records});
    program.module("app", "/srv/app/app.py", {{"LogRecord", record}, {"Queue", queue}, {"JOBS", jobs}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(records) == "log-records");
    CHECK(suspected.words_of(records) == "log records in a queue from which nobody takes them");
    CHECK(suspected.fix_of(records) == "start a logging.handlers.QueueListener on it, or give it a maxsize");
}

TEST_CASE("suspects: tasks that only the timers of the loop hold", "[program][suspects]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address type = heap.c_type("_asyncio.Task",
                                     {.basicsize = *heap.layout().task.size, .flags = test::have_gc_flag}),
                  handle = program.class_with("TimerHandle",
                                              {.module = "asyncio.events", .attributes = {"_args"}});
    const bool most = GENERATE(true, false);  // of what the handles hold is the tasks'
    std::vector<Address> handles;
    Address last;
    for (int i = 0; i < 20; ++i) {
        last = payload(program);
        const Address task = waiting_task(program, type, "refresh", {{"rows", last}}, Address());
        handles.push_back(program.instance_with(handle, {program.heap.tuple({task})}));
    }
    if (!most)
        for (int i = 0; i < 30; ++i)
            handles.push_back(program.instance_with(handle, {program.heap.tuple({payload(program)})}));
    const Address scheduled = program.list(handles);
    program.module("app", "/srv/app/app.py", {{"TimerHandle", handle}, {"SCHEDULED", scheduled}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(scheduled) == (most ? "tasks" : "module-container"));
    if (most)
        CHECK(suspected.words_of(scheduled) ==
              "tasks suspended in refresh(), app.py; each keeps `rows` (" + suspected.size_of(last) + ")");
    CHECK(suspected.of(scheduled).general);
}

TEST_CASE("suspects: callbacks of timers that are no tasks", "[program][suspects]") {
    ProgramHeap program;
    const Address handle = program.class_with("Handle", {.module = "asyncio.events"}),
                  timer = program.class_with(
                      "TimerHandle", {.base = handle, .module = "asyncio.events", .attributes = {"_args"}});
    std::vector<Address> handles;
    for (int i = 0; i < 20; ++i)
        handles.push_back(program.instance_with(timer, {program.heap.tuple({payload(program)})}));
    const Address scheduled = program.list(handles);
    program.module("app", "/srv/app/app.py", {{"TimerHandle", timer}, {"SCHEDULED", scheduled}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(scheduled) == "timers");
    CHECK(suspected.fix_of(scheduled) == "cancel() those that are done with");
}

TEST_CASE("suspects: greenlets say what they wait for, if that is to wake them", "[program][suspects]") {
    const bool wakes = GENERATE(true, false);
    ProgramHeap program;
    const Address type = program.heap.c_type(
                      "greenlet.greenlet", {.basicsize = 40, .flags = test::have_gc_flag, .dictoffset = 24}),
                  event = program.class_with("Event", {.module = "gevent.event", .slots = {"_links"}}),
                  switching = program.function("switch");
    std::vector<Address> greenlets;
    Address body;
    for (int i = 0; i < 20; ++i) {
        body = payload(program);
        const Address done = program.instance(event, {program.heap.none()});
        const Address greenlet = waiting_greenlet(program, type, "push", {{"done", done}, {"body", body}});
        if (wakes) program.set_slot(done, 0, program.list({bound_method(program, greenlet, switching)}));
        greenlets.push_back(greenlet);
    }
    const Address held = program.list(greenlets);
    program.module("app", "/srv/app/app.py", {{"HELD", held}, {"types", program.list({event, switching})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(held) == "suspended");
    CHECK(suspected.words_of(held) ==
          "greenlets suspended in push(), app.py" +
              std::string(wakes ? "; each waits for an Event that nobody has set" : "") +
              "; each keeps `body` (" + suspected.size_of(body) + ")");
    CHECK(suspected.fix_of(held) == "give what they wait for a timeout, or kill() them");
}
