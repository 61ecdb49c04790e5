// What is suspended: where it stands, what it waits for, and whether that can come.

#include "analysis/tasks.h"
#include "analysis/task_ends.h"
#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A program with asyncio's types. What is not set is as in a new object: a future is pending.
class AsyncProgram {
public:
    AsyncProgram() {
        program.module("os", "/usr/lib/python3.13/os.py", {});
        queues_ = module("queues");
        tasks_ = module("tasks");
        futures_ = module("futures");
    }

    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address task_type = c_type("_asyncio.Task", *heap.layout().task.size),
                  future_type = c_type("_asyncio.Future", *heap.layout().future.size),
                  iterator_type = c_type("_asyncio.FutureIter", *heap.layout().future_iterator.size),
                  queue_type =
                      program.class_with("Queue", {.module = "asyncio.queues", .attributes = {"_getters"}}),
                  timer_type = program.class_with(
                      "TimerHandle", {.module = "asyncio.events", .attributes = {"_when", "_args"}}),
                  timeout_type = program.class_with(
                      "Timeout", {.module = "asyncio.timeouts", .attributes = {"_task", "_timeout_handler"}});

    Address future() { return program.object(future_type); }

    /// What `await future` has on its stack.
    Address awaiting(Address future) {
        const Address made = program.object(iterator_type);
        heap.set(made, heap.layout().future_iterator.future, future);
        return made;
    }

    /// A coroutine, or a generator of `type`, suspended in `name` of the program, where it awaits that; null: a plain yield.
    Address call(const std::string& name, const ProgramHeap::Named& locals, Address awaited,
                 const std::string& type = "coroutine", Address globals = {}) {
        const auto& l = heap.layout().interpreter_frame;
        const Address made = program.generator(name, locals, type),
                      frame = made + *heap.layout().generator.gi_iframe;
        heap.set(frame, l.f_globals, globals);
        if (awaited.is_null()) return made;
        heap.put(frame + *l.localsplus + 8 * locals.size(), awaited);
        heap.set(frame, l.stacktop, static_cast<std::int32_t>(locals.size() + 1));
        heap.set(made, heap.layout().generator.gi_frame_state,
                 std::int8_t{-1});  // FRAME_SUSPENDED_YIELD_FROM
        return made;
    }
    Address call_of_queues(const std::string& name, Address queue, Address awaited) {
        return call(name, {{"self", queue}}, awaited, "coroutine", queues_);
    }
    Address call_of_tasks(const std::string& name, const ProgramHeap::Named& locals, Address awaited) {
        return call(name, locals, awaited, "coroutine", tasks_);
    }

    Address task(Address coroutine, Address waiter = {}) {
        const Address made = program.object(task_type);
        heap.set(made, heap.layout().task.coro, coroutine);
        heap.set(made, heap.layout().task.waiter, waiter);
        if (!waiter.is_null()) wake(waiter, made);
        return made;
    }
    /// The future's callback leads to the task.
    void wake(Address waiter, Address task) {
        const Address callback = bound_method(program, task, program.function("wakeup"));
        heap.set(waiter, heap.layout().future.callback0, callback);
    }
    /// One that waits in `name` for a future of its own.
    Address waiting(const std::string& name, Address future) {
        return task(call(name, {}, awaiting(future)), future);
    }
    Address timer(double when, Address argument) {
        return program.instance_with(timer_type, {heap.real(when), heap.tuple({argument})});
    }
    /// `item` in a list of the module app.
    void keep(const std::vector<Address>& items) {
        program.module("app", "/srv/app/app.py", {{"KEPT", program.list(items)}});
    }

private:
    Address module(const std::string& name) {
        return program.module("asyncio." + name, "/usr/lib/python3.13/asyncio/" + name + ".py", {});
    }
    Address c_type(const std::string& name, std::uint64_t size) {
        return heap.c_type(name, {.basicsize = size, .flags = test::have_gc_flag});
    }

    Address queues_, tasks_, futures_;
};

struct Found {
    explicit Found(AsyncProgram& of)
        : analysed(of.program), awaits(analysed.heap), result(tasks(awaits, analysed.retained)) {}

    Analysed analysed;
    AwaitReader awaits;
    TasksResult result;

    const TaskRow* find(Address address) const {
        for (const TaskRow& row : result.rows)
            if (row.address == address) return &row;
        return nullptr;
    }
    const TaskRow& of(Address address) const {
        const TaskRow* row = find(address);
        REQUIRE(row);
        return *row;
    }
    const TaskPlace& place(Address address) const { return result.places[of(address).place]; }
    TaskDetails details(Address address) const {
        return task_details(awaits, analysed.retained, result, of(address));
    }
};

}  // namespace

TEST_CASE("tasks: who waits for a queue says so, and for ever if nobody else has the queue",
          "[program][tasks]") {
    AsyncProgram of;
    const std::string holder = GENERATE("nobody", "a module", "a weak reference", "C code", "a running call");
    const Address queue = of.program.instance_with(of.queue_type, {});
    std::vector<Address> tasks, getters;
    for (int i = 0; i < 3; ++i) {
        const Address future = of.future(), get = of.call_of_queues("get", queue, of.awaiting(future));
        tasks.push_back(of.task(of.call("handle", {{"queue", queue}}, get), future));
        getters.push_back(future);
    }
    of.keep(tasks);
    const Address list = of.program.list(getters);
    if (holder == "a module")
        of.program.module("queues", "/srv/app/queues.py", {{"QUEUE", queue}, {"G", list}});
    if (holder == "a weak reference")
        of.program.module("queues", "/srv/app/queues.py",
                          {{"QUEUE", weak_reference(of.program, getters[0])}});
    if (holder == "C code") of.program.leak(getters[0], 1);
    if (holder == "a running call") of.program.call("main", {{"getters", list}});
    const Found found(of);
    REQUIRE(found.result.rows.size() == 3);
    const TaskRow& row = found.of(tasks[0]);
    CHECK(row.kind == TaskKind::task);
    CHECK(row.awaits == Awaits::queue_get);
    CHECK(row.waits_for == found.analysed.id(queue));
    CHECK(row.future == found.analysed.id(getters[0]));
    CHECK(row.finishes == (holder == "nobody" ? std::optional(false) : std::nullopt));
    CHECK(found.place(tasks[0]).coroutine == "handle");
    CHECK(found.place(tasks[0]).function == "get");  // in a file of the program, as all code of these tests
    REQUIRE(found.result.groups.size() <= 2);
    if (holder == "nobody") {
        CHECK(found.result.groups[0].count == 3);
        CHECK(found.result.never == 3);
    }
    const TaskDetails details = found.details(tasks[0]);
    REQUIRE(details.calls.size() == 2);
    CHECK(details.calls[0].frame.name == "handle");
    CHECK(details.calls[1].frame.name == "get");
    CHECK(tasks_waiting_for(found.result, found.analysed.id(queue)).rows.size() == 3);
}

TEST_CASE("tasks: tasks that wait for each other wait for ever; one that goes on may end the wait",
          "[program][tasks]") {
    AsyncProgram of;
    const Address first = of.task(of.call("ping", {}, {})), second = of.task(of.call("pong", {}, {}), first);
    of.heap.set(first, of.heap.layout().task.waiter, second);
    const Address ready = of.task(of.call("works", {}, {})), waits = of.task(of.call("joins", {}, {}), ready);
    of.keep({first, second, ready, waits});
    const Found found(of);
    CHECK(found.of(first).awaits == Awaits::task);
    CHECK(found.of(first).waits_for == found.analysed.id(second));
    CHECK(found.of(first).finishes == false);
    CHECK(found.of(second).finishes == false);
    CHECK(found.of(ready).awaits == Awaits::ready);
    CHECK_FALSE(found.of(ready).finishes);
    CHECK_FALSE(found.of(waits).finishes);
    const TaskDetails details = found.details(second);
    REQUIRE(details.awaited_by.size() == 1);
    CHECK(details.awaited_by[0].address == first);
    REQUIRE(details.waits_on.size() == 1);
    CHECK(details.waits_on[0].address == first);
}

TEST_CASE("tasks: a sleep says until when; a timeout ends any wait, and what is cancelled with it",
          "[program][tasks]") {
    AsyncProgram of;
    const Address own = of.future(), timer = of.timer(5021.5, own);
    const Address sleeps = of.task(of.call_of_tasks("sleep", {{"h", timer}}, of.awaiting(own)), own);
    const Address child = of.waiting("child", of.future()),
                  parent = of.task(of.call("parent", {}, {}), child);
    const Address timeout = of.program.instance_with(of.timeout_type, {parent, of.timer(60, of.heap.none())});
    of.keep({sleeps, child, parent, timeout});
    const Found found(of);
    CHECK(found.of(sleeps).awaits == Awaits::sleep);
    CHECK(found.of(sleeps).until == 5021.5);
    CHECK(found.of(sleeps).finishes == true);
    CHECK(found.of(parent).until == 60);
    CHECK(found.of(parent).finishes == true);
    CHECK_FALSE(found.of(child).until);
    CHECK(found.of(child).finishes == true);
}

TEST_CASE("tasks: a callback of the loop that leads to a task may end it", "[program][tasks]") {
    AsyncProgram of;
    const Address waits = of.waiting("serve", of.future()), other = of.waiting("serve", of.future());
    of.keep({waits, other});
    of.program.call(
        "run_forever",
        {{"handle", of.timer(3, bound_method(of.program, waits, of.program.function("cancel")))}});
    const Found found(of);
    CHECK_FALSE(found.of(waits).finishes);
    CHECK(found.of(other).finishes == false);
}

TEST_CASE("tasks: who gathers waits for each child that is not done", "[program][tasks]") {
    AsyncProgram of;
    const Address gathering =
        of.program.class_with("_GatheringFuture", {.base = of.future_type, .module = "asyncio.tasks"});
    const Address pending = of.waiting("works", of.future()), done = of.waiting("works", of.future());
    const auto& l = of.heap.layout().task;
    of.heap.set(done, *l.cancelled + 8, std::uint32_t{2});
    const Address all = of.program.object(gathering);
    of.heap.put(Address(all.value - 24),  // its __dict__, which the interpreter manages
                of.program.dict({{"_children", of.program.list({pending, done})}}));
    const Address parent = of.task(of.call("parent", {}, of.awaiting(all)), all);
    of.keep({pending, done, parent});
    const Found found(of);
    CHECK_FALSE(found.find(done));
    CHECK(found.result.ended == 1);
    CHECK(found.of(parent).awaits == Awaits::tasks);
    CHECK(found.of(parent).finishes == false);
    REQUIRE(found.details(parent).waits_on.size() == 1);
    CHECK(found.details(parent).waits_on[0].address == pending);
}

TEST_CASE("tasks: a task written in Python is one as well", "[program][tasks]") {
    AsyncProgram of;
    const Address type = of.program.class_with(
        "Task", {.module = "asyncio.tasks", .attributes = {"_coro", "_fut_waiter", "_name", "_loop"}});
    const Address loop_type = of.program.class_with(
        "BaseEventLoop", {.module = "asyncio.base_events", .attributes = {"_thread_id"}});
    const Address loop = of.program.instance_with(loop_type, {of.heap.integer(0x7f12)});
    const Address future = of.future();
    const Address made = of.program.instance_with(
        type, {of.call("old", {}, of.awaiting(future)), future, of.heap.str("mine"), loop});
    of.wake(future, made);
    of.keep({made, loop});
    const Found found(of);
    REQUIRE(found.result.rows.size() == 1);
    CHECK(found.of(made).awaits == Awaits::future);
    CHECK(found.of(made).finishes == false);
    CHECK(found.details(made).name == "mine");
    CHECK(tasks_of_threads(found.result, {0x7f11, 0x7f12}) ==
          std::vector<std::vector<std::uint32_t>>{{}, {0}});
}

TEST_CASE("tasks: coroutines and generators of no task are listed, but for those that another one awaits",
          "[program][tasks]") {
    AsyncProgram of;
    // The outermost first: what it awaits comes later, and what that one awaits.
    const Address future = of.future(), outer = of.call("outer", {{"space", of.heap.none()}}, future);
    const Address inner = of.call("inner", {}, of.awaiting(future)), middle = of.call("middle", {}, inner);
    of.heap.put(
        outer + *of.heap.layout().generator.gi_iframe + *of.heap.layout().interpreter_frame.localsplus + 8,
        middle);
    const Address generator = of.call("rows", {}, {}, "generator"),
                  from = of.call("all_rows", {}, generator, "generator");
    const Address fresh = of.call("never_awaited", {}, {});
    of.heap.set(fresh, of.heap.layout().generator.gi_frame_state, std::int8_t{-3});  // FRAME_CREATED
    const Address ended = of.call("ended", {}, {});
    of.heap.set(ended, of.heap.layout().generator.gi_frame_state, std::int8_t{4});  // FRAME_CLEARED
    of.keep({outer, from, fresh, ended});
    const Found found(of);
    REQUIRE(found.result.rows.size() == 3);
    CHECK(found.of(outer).kind == TaskKind::coroutine);
    CHECK(found.of(outer).awaits == Awaits::future);
    CHECK(found.place(outer).function == "inner");
    CHECK(found.of(from).kind == TaskKind::generator);
    CHECK(found.of(from).awaits == Awaits::caller);
    CHECK(found.of(fresh).awaits == Awaits::not_started);
    CHECK_FALSE(found.of(fresh).finishes);
}

TEST_CASE("tasks: the calls go on through what asend(), anext() and __await__() return", "[program][tasks]") {
    AsyncProgram of;
    const auto& l = of.heap.layout();
    const Address future = of.future(),
                  numbers = of.call("numbers", {}, of.awaiting(future), "async_generator");
    const Address step_type = of.heap.c_type(
                      "async_generator_asend",
                      {.basicsize = *l.async_generator_asend.size, .flags = test::have_gc_flag}),
                  wrapper_type = of.heap.c_type("coroutine_wrapper", {.basicsize = *l.coroutine_wrapper.size,
                                                                      .flags = test::have_gc_flag});
    const Address step = of.program.object(step_type), wrapper = of.program.object(wrapper_type);
    of.heap.set(step, l.async_generator_asend.ags_gen, numbers);
    of.heap.set(wrapper, l.coroutine_wrapper.cw_coroutine, of.call("loops", {}, step));
    const Address made = of.task(of.call("outer", {}, wrapper), future);
    of.keep({made});
    const Found found(of);
    REQUIRE(found.result.rows.size() == 1);
    const TaskDetails details = found.details(made);
    REQUIRE(details.calls.size() == 3);
    CHECK(details.calls[2].object == numbers);
    CHECK(found.of(made).finishes == false);
}

TEST_CASE("tasks: a future that stands for another one says so by its callback", "[program][tasks]") {
    AsyncProgram of;
    const Address concurrent = of.program.class_with("Future", {.module = "concurrent.futures._base"});
    const Address job = of.program.object(concurrent), shielded = of.waiting("works", of.future());
    const auto waits_by = [&](const char* function, const char* variable, Address other) {
        const Address future = of.future();
        const Address made = of.task(of.call("waits", {}, of.awaiting(future)), future);
        of.heap.set(future, of.heap.layout().future.callback0,
                    of.program.function(function, {{variable, of.program.cell(other)}}));
        return made;
    };
    const Address by_thread = waits_by("_call_check_cancel", "source", job),
                  by_shield = waits_by("_outer_done_callback", "inner", shielded),
                  by_other = waits_by("on_done", "inner", shielded);
    of.keep({by_thread, by_shield, by_other, shielded, job});
    const Found found(of);
    CHECK(found.of(by_thread).awaits == Awaits::thread);
    CHECK(found.of(by_thread).waits_for == found.analysed.id(job));
    CHECK(found.of(by_shield).awaits == Awaits::task);
    CHECK(found.of(by_shield).waits_for == found.analysed.id(shielded));
    CHECK(found.of(by_other).awaits == Awaits::future);
}

TEST_CASE("tasks: what acquire() waits for goes by whose it is", "[program][tasks]") {
    AsyncProgram of;
    const auto [name, awaits] = GENERATE(table<std::string, Awaits>(
        {{"Lock", Awaits::lock}, {"Semaphore", Awaits::semaphore}, {"Mutex", Awaits::future}}));
    const Address locks = of.program.module("asyncio.locks", "/usr/lib/python3.13/asyncio/locks.py", {});
    const Address type = of.program.class_with(name, {.module = "asyncio.locks"});
    const Address lock = of.program.object(type), future = of.future();
    const Address acquire = of.call("acquire", {{"self", lock}}, of.awaiting(future), "coroutine", locks);
    const Address made = of.task(of.call("enters", {}, acquire), future);
    of.keep({made});
    CHECK(Found(of).of(made).awaits == awaits);
}

TEST_CASE("tasks: a greenlet that waits is one as well", "[program][tasks]") {
    AsyncProgram of;
    const Address type =
        of.heap.c_type("greenlet.greenlet", {.basicsize = 40, .flags = test::have_gc_flag, .dictoffset = 24});
    const Address greenlet = waiting_greenlet(of.program, type, "push", {{"body", payload(of.program)}});
    of.keep({greenlet});
    const Found found(of);
    CHECK(found.of(greenlet).kind == TaskKind::greenlet);
    CHECK(found.of(greenlet).awaits == Awaits::switched);
    CHECK(found.place(greenlet).function == "push");
    CHECK(found.details(greenlet).calls.size() == 1);
}

TEST_CASE("tasks: garbage counts with its calls, and nobody acts through it", "[program][tasks]") {
    AsyncProgram of;
    const Address future = of.future(), body = payload(of.program);
    const Address made = of.task(of.call("lost", {{"body", body}}, of.awaiting(future)), future);
    of.keep({});
    const Found found(of);
    CHECK(found.of(made).finishes == false);
    CHECK(found.of(made).retained > payload_bytes);
}

TEST_CASE("tasks: a chain that leads to itself ends", "[program][tasks]") {
    AsyncProgram of;
    const Address first = of.call("first", {}, of.awaiting(of.future())),
                  second = of.call("second", {}, first);
    const auto& l = of.heap.layout().interpreter_frame;
    of.heap.put(first + *of.heap.layout().generator.gi_iframe + *l.localsplus, second);
    of.keep({first});
    const Found found(of);
    CHECK(found.result.rows.size() <= 1);
}
