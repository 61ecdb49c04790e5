// What waits to be done: queues, asyncio's tasks and coroutines, suspended generators, buffered log records.

#include "analysis/object_paths.h"
#include "analysis/suspects/rules.h"

#include "parsers/libraries/greenlets.h"

#include <algorithm>
#include <functional>

namespace heapsift {
namespace {

bool is_task(const Scene& scene, ObjectId object) {
    return scene.is_a(object, {"_asyncio.Task", "asyncio.tasks.Task"});
}

/// The int in one of these attributes, as text; "" if there is none.
std::string attribute_text(const Scene& scene, ObjectId object,
                           std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (const Address found = scene.attribute(object, name); !found.is_null())
            return scene.whole_number(found);
    return {};
}

/// Whether it has that attribute, and it is not None.
bool has_value(const Scene& scene, ObjectId object, std::string_view name) {
    const Address value = scene.attribute(object, name);
    return !value.is_null() && !scene.is(scene.heap().snapshot().find(value), KnownType::none);
}

/// The queue of which the holder is what waits in it.
ObjectId queue_of(const Scene& scene) {
    ObjectId queue = no_object;
    // A subclass may have containers of its own: only what these classes call so is what waits.
    const ReferenceStep* step = scene.step();
    const bool waiting = step && (step->name == "queue" || step->name == "_queue" || step->name == "_buffer");
    for (const ObjectId object : {scene.object(), waiting ? scene.owner() : no_object})
        if (scene.is_a(object, {"queue.Queue", "_queue.SimpleQueue", "asyncio.queues.Queue",
                                "multiprocessing.queues.Queue", "multiprocessing.queues.SimpleQueue"}))
            queue = object;
    return queue;
}

/// What an executor is still to call (concurrent.futures): nobody but the program can bound that.
std::optional<Cause> executor_backlog(const Scene& scene) {
    const bool threads = scene.holds({"concurrent.futures.thread._WorkItem"});
    if (!threads && !scene.holds({"concurrent.futures.process._WorkItem"})) return std::nullopt;
    std::vector<Address> called;
    for (const ObjectId item : scene.sample()) called.push_back(scene.attribute(item, "fn"));
    const SourcePlace callee = called_by_most(scene, called);
    const std::string place = words_of(callee);
    return Cause{
        .kind = {},
        .words = words(CauseWords::count(scene.count()), scene.count() == 1 ? " call" : " calls",
                       threads ? " that a ThreadPoolExecutor has not started"
                               : " that a ProcessPoolExecutor has not finished",
                       place.empty() ? "" : ": ", place, "; each keeps its arguments"),
        .fix = "limit how many are submitted at once: a threading.Semaphore, released when a call ends",
        .made_by = {"submit"},
        .made_of = names_of_callee(callee)};
}

std::optional<Cause> queues(const Scene& scene) {
    const ObjectId queue = queue_of(scene);
    if (queue == no_object) return std::nullopt;
    const std::string maxsize = attribute_text(scene, queue, {"maxsize", "_maxsize"});
    const std::string type = scene.type_of(queue);
    const bool vowel = !type.empty() && std::string_view("aeio").find(type.front()) != std::string_view::npos;
    CauseWords cause = words(vowel ? "an " : "a ", type, " with ", CauseWords::count(scene.count()),
                             " items that nobody has taken");
    const bool unbounded = maxsize.empty() || maxsize.front() == '0' || maxsize.front() == '-';
    if (!maxsize.empty()) cause << (unbounded ? std::string("; it has no bound") : "; maxsize=" + maxsize);
    return Cause{
        .kind = {},
        .words = std::move(cause),
        .usual = !unbounded,
        .fix = unbounded ? "give it a maxsize, so that producers wait" : "lower maxsize, or add consumers"};
}

/// The coroutine of a task.
ObjectId coroutine_of(const Scene& scene, ObjectId task) {
    ObjectId found = no_object;
    scene.heap().visit_references(task, [&](const Reference& reference) {
        const ObjectId target = scene.heap().snapshot().find(reference.target);
        if (found == no_object && target != no_object &&
            (scene.is(target, KnownType::coroutine) || scene.is(target, KnownType::generator)))
            found = target;
    });
    return found;
}

/// Whether what only the task keeps can be reached by others after all: asyncio's protocol of a client has its
/// StreamReader by a weak reference (streams.py), and completes by it the future that `read` waits for.
bool is_reached_weakly(const Scene& scene, ObjectId task) {
    constexpr std::size_t most_objects = 1000, most_of_each = 64;
    std::vector<ObjectId> found{task};
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (i > 0 && scene.has_weak_references(found[i])) return true;
        const std::size_t most = std::min(most_objects, found.size() + most_of_each);
        scene.heap().visit_references(found[i], [&](const Reference& reference) {
            const ObjectId target = scene.heap().snapshot().find(reference.target);
            if (reference.followed && target != no_object && found.size() < most &&
                scene.dominates(task, target) && std::find(found.begin(), found.end(), target) == found.end())
                found.push_back(target);
        });
    }
    return false;
}

/// Whether a task waits for a future (`_fut_waiter`: asyncio/tasks.py) that nobody but the task itself can reach:
/// nothing will ever set its result.
bool waits_for_nothing(const Scene& scene, ObjectId task) {
    const ObjectId future = scene.heap().snapshot().find(scene.attribute(task, "_fut_waiter"));
    return future != no_object && scene.dominates(task, future) && scene.is_fully_counted(future) &&
           !is_reached_weakly(scene, task);
}

/// Where most of them wait, by number and by what they keep; "" if there is no such place. A call that has ended
/// waits nowhere.
std::string place_of_most(const Scene& scene, const std::vector<ObjectId>& waiting,
                          const std::function<ObjectId(ObjectId)>& suspended) {
    MostFrequent<std::string> places, by_number;
    for (const ObjectId one : waiting) {
        const ObjectId at = suspended(one);
        const std::string words = at == no_object ? std::string() : suspended_words(scene.heap(), at);
        places.add(words, scene.retained(one));
        by_number.add(words);
    }
    const std::string *place = places.get(), *often = by_number.get();
    return place && often && *place == *often ? *place : std::string();
}

/// "; each keeps `rows` (78.8 KiB)".
void add_what_one_keeps(const Scene& scene, ObjectId one, CauseWords& cause) {
    if (const auto part = scene.largest_part(one); part && part->is_local)
        cause << "; each keeps `" + part->name + "` (" << CauseWords::size(part->bytes) << ")";
}

/// Its call has returned, or failed.
bool is_ended_task(const Scene& scene, ObjectId task) {
    const ObjectId call = coroutine_of(scene, task);
    return call == no_object || suspended_words(scene.heap(), call).empty();
}

std::optional<Cause> tasks(const Scene& scene) {
    const std::vector<ObjectId> waiting = scene.waiting();
    if (waiting.empty() || !is_task(scene, waiting.front())) return std::nullopt;
    std::size_t forsaken = 0;
    for (const ObjectId task : waiting) forsaken += waits_for_nothing(scene, task);
    const auto ended = static_cast<std::size_t>(std::count_if(
        waiting.begin(), waiting.end(), [&](ObjectId task) { return is_ended_task(scene, task); }));
    if (2 * ended > waiting.size())
        return Cause{.kind = {},
                     .words = words("tasks, most of which have ended: each keeps its result, or its error"),
                     .general = true,
                     .fix = "keep what result() gives, not the task"};
    const std::string place =
        place_of_most(scene, waiting, [&](ObjectId task) { return coroutine_of(scene, task); });
    CauseWords cause = words("tasks");
    if (!place.empty()) {
        cause << " " + place;
        add_what_one_keeps(scene, waiting.front(), cause);
    } else {
        cause << " that wait at several places";
    }
    if (2 * forsaken > waiting.size()) {
        cause << "; each waits for a future that nothing else holds, so nothing can complete it";
        return Cause{.kind = {},
                     .words = std::move(cause),
                     .fix = "keep the future where its result is set, and wait with asyncio.wait_for"};
    }
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .general = true,  // as do those of a server at work
                 .fix =
                     "cancel() what is done with, limit how many wait at once (asyncio.Semaphore), or set a "
                     "timeout"};
}

/// Whether a coroutine's call has not begun: it is at the line of its `def`, and has nothing on its stack, where one
/// that waits has what it waits for.
bool has_not_begun(const Scene& scene, ObjectId coroutine) {
    const HeapSnapshot& columns = scene.heap().snapshot();
    const auto frame = generator_frame(scene.python(), columns.address_of(coroutine));
    if (!frame || frame->line <= 0 || frame->line != place_of_code(scene.python(), frame->code).line)
        return false;
    bool waits = false;
    const auto look_at = [&](ObjectId object) {
        scene.heap().visit_references(object, [&](const Reference& reference) {
            waits = waits || reference.step.name == "<value stack>";
        });
    };
    look_at(coroutine);
    if (const ObjectId own = columns.find(frame->object); own != no_object) look_at(own);
    return !waits;
}

/// "send(), app.py:15", of most of them; "" if they have begun, or there is no such function.
std::string never_awaited(const Scene& scene, const std::vector<ObjectId>& coroutines) {
    MostFrequent<SourcePlace> places;
    for (const ObjectId one : coroutines) {
        if (!has_not_begun(scene, one)) return {};
        const auto frame = generator_frame(scene.python(), scene.heap().snapshot().address_of(one));
        places.add(place_of_code(scene.python(), frame->code));
    }
    const SourcePlace* place = places.get();
    return place ? words_of(*place) : std::string();
}

/// What a greenlet of gevent waits for: what its calls have in hand, and what is to wake it.
struct GreenletWait {
    std::initializer_list<std::string_view> types;
    const char* words;
    bool of_loop = false;  // gevent's loop, in C code, has what wakes it
    const char* fix = "give what they wait for a timeout, or kill() them";
};

const GreenletWait greenlet_waits[] = {
    {{"gevent.libev.corecext.timer", "gevent.libev.watcher.timer", "gevent.libuv.watcher.timer"},
     "a timer (gevent.sleep, or a timeout)",
     true,
     "let them end, let them keep less meanwhile, or kill() them"},
    {{"gevent.libev.corecext.io", "gevent.libev.watcher.io", "gevent.libuv.watcher.io"},
     "a socket or a file",
     true},
    {{"gevent._gevent_cevent.Event", "gevent.event.Event"}, "an Event that nobody has set"},
    {{"gevent._gevent_cevent.AsyncResult", "gevent.event.AsyncResult"}, "an AsyncResult that nobody has set"},
    {{"gevent._gevent_cqueue.Queue", "gevent._gevent_cqueue.SimpleQueue", "gevent.queue.Queue"},
     "a Queue into which nobody has put anything"},
    {{"gevent._gevent_c_semaphore.Semaphore", "gevent.lock.Semaphore"},
     "a Semaphore that nobody has released"}};

/// Whether references lead from one to the other in a few steps: what wakes a greenlet calls its `switch`, by a list of
/// links, a Waiter, a bound method.
bool leads_to(const Scene& scene, ObjectId from, ObjectId to) {
    constexpr std::size_t most_objects = 64;
    std::vector<ObjectId> found{from};
    bool leads = false;
    for (std::size_t i = 0; i < found.size() && !leads; ++i)
        scene.heap().visit_references(found[i], [&](const Reference& reference) {
            const ObjectId target = scene.heap().snapshot().find(reference.target);
            leads = leads || (reference.followed && target == to);
            const bool is_class = scene.is_class(target) || scene.is(target, KnownType::module);
            if (reference.followed && target != no_object && !is_class && found.size() < most_objects &&
                std::find(found.begin(), found.end(), target) == found.end())
                found.push_back(target);
        });
    return leads;
}

/// Of most of them; null if that is not known. One that two such things are to wake says nothing.
const GreenletWait* wait_of_most(const Scene& scene, const std::vector<ObjectId>& greenlets) {
    MostFrequent<const GreenletWait*> waits;
    for (const ObjectId greenlet : greenlets) {
        const GreenletWait* own = nullptr;
        bool two = false;
        scene.heap().visit_references(greenlet, [&](const Reference& reference) {
            const ObjectId target = scene.heap().snapshot().find(reference.target);
            if (!reference.followed || target == no_object) return;
            for (const GreenletWait& wait : greenlet_waits) {
                if (own == &wait || !scene.is_a(target, wait.types) || !leads_to(scene, target, greenlet))
                    continue;
                two = two || own;
                own = &wait;
            }
        });
        waits.add(two ? nullptr : own);
    }
    const GreenletWait* const* most = waits.get();
    return most ? *most : nullptr;
}

std::optional<Cause> suspended(const Scene& scene) {
    const std::vector<ObjectId> waiting = scene.waiting();
    if (waiting.empty()) return std::nullopt;
    const HeapSnapshot& columns = scene.heap().snapshot();
    if (scene.is(waiting.front(), KnownType::coroutine))
        if (const std::string place = never_awaited(scene, waiting); !place.empty()) {
            CauseWords cause = words("coroutines of ", place, " that nobody has awaited");
            add_what_one_keeps(scene, waiting.front(), cause);
            return Cause{.kind = {}, .words = std::move(cause), .fix = "await each, or close() it"};
        }
    const TypeInfo& type = columns.type_info(waiting.front());
    const std::string word = is_greenlet(type)                          ? "greenlets"
                             : type.known == KnownType::coroutine       ? "coroutines"
                             : type.known == KnownType::generator       ? "generators"
                             : type.known == KnownType::async_generator ? "asynchronous generators"
                                                                        : "";
    if (word.empty()) return std::nullopt;
    const std::string place = place_of_most(scene, waiting, [](ObjectId one) { return one; });
    if (place.empty()) return std::nullopt;
    CauseWords cause = words(word, " ", place);
    const GreenletWait* wait = is_greenlet(type) ? wait_of_most(scene, waiting) : nullptr;
    if (wait) cause << std::string("; each waits for ") + wait->words;
    add_what_one_keeps(scene, waiting.front(), cause);
    const bool by_loop = wait && wait->of_loop && scene.holder().says_held;
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .general = true,
                 .fix = wait                ? wait->fix
                        : is_greenlet(type) ? "give what they wait for a timeout, or kill() them"
                                            : "run them to their end, or call close() on them",
                 .keeper = by_loop ? "gevent's loop" : ""};
}

std::optional<Cause> log_records(const Scene& scene) {
    if (!scene.holds({"logging.LogRecord"})) return std::nullopt;
    ObjectId handler = no_object;
    for (const ObjectId object : scene.path())
        if (scene.is_a(object, {"logging.Handler"})) handler = object;
    const std::string capacity =
        handler == no_object ? std::string() : attribute_text(scene, handler, {"capacity"});
    if (!capacity.empty())
        return Cause{.kind = {},
                     .words = words("log records that a ", short_type_name(scene.type_of(handler)),
                                    " buffers, capacity=", capacity),
                     .fix = has_value(scene, handler, "target")
                                ? "lower capacity or flushLevel"
                                : "lower capacity or flushLevel, or give it a target"};
    if (queue_of(scene) != no_object)
        return Cause{.kind = {},
                     .words = words("log records in a queue from which nobody takes them"),
                     .fix = "start a logging.handlers.QueueListener on it, or give it a maxsize"};
    std::size_t with_arguments = 0;
    for (const ObjectId record : scene.sample()) with_arguments += has_value(scene, record, "args");
    if (2 * with_arguments < scene.sample().size())
        return Cause{.kind = {},
                     .words = words("log records that are kept"),
                     .fix = "keep only the last few: collections.deque(maxlen=…)"};
    return Cause{.kind = {},
                 .words = words("log records that are kept, with the arguments of each call"),
                 .fix = "keep record.getMessage(), not the record"};
}

std::optional<Cause> timers(const Scene& scene) {
    if (!scene.holds({"asyncio.events.Handle"})) return std::nullopt;
    return Cause{.kind = {},
                 .words = words("callbacks that the event loop is still to call (call_later, call_soon)"),
                 .general = true,
                 .fix = "cancel() those that are done with"};
}

constexpr Rule rules_of_queues[] = {{"log-records", log_records},
                                    {"executor-backlog", executor_backlog},
                                    {"queue", queues},
                                    {"tasks", tasks},
                                    {"suspended", suspended},
                                    {"timers", timers}};

}  // namespace

std::span<const Rule> queue_rules() { return rules_of_queues; }

}  // namespace heapsift
