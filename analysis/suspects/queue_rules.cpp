// What waits to be done: queues, asyncio's tasks and coroutines, suspended generators, buffered log records.

#include "analysis/object_paths.h"
#include "analysis/suspects/rules.h"

#include <algorithm>

namespace heapsift {
namespace {

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

std::optional<Cause> queues(const Scene& scene) {
    const ObjectId queue = queue_of(scene);
    if (queue == no_object) return std::nullopt;
    const std::string maxsize = attribute_text(scene, queue, {"maxsize", "_maxsize"});
    CauseWords cause = words("a ", scene.type_of(queue), " with ", CauseWords::count(scene.count()),
                             " items that nobody has taken");
    const bool unbounded = maxsize.empty() || maxsize.front() == '0' || maxsize.front() == '-';
    if (!maxsize.empty()) cause << (unbounded ? std::string("; it has no bound") : "; maxsize=" + maxsize);
    return Cause{
        .kind = {},
        .words = std::move(cause),
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

/// Of a task, a coroutine or a generator: the local by which it holds most.
std::optional<Scene::Part> largest_local(const Scene& scene, ObjectId object) {
    auto part = scene.largest_part(object);
    return part && part->is_local ? part : std::nullopt;
}

std::optional<Cause> tasks(const Scene& scene) {
    if (!scene.holds({"_asyncio.Task", "asyncio.tasks.Task"})) return std::nullopt;
    MostFrequent<std::string> places;
    std::size_t forsaken = 0;
    for (const ObjectId task : scene.sample()) {
        forsaken += waits_for_nothing(scene, task);
        const ObjectId coroutine = coroutine_of(scene, task);
        places.add(coroutine == no_object ? std::string() : suspended_words(scene.heap(), coroutine),
                   scene.retained(task));
    }
    CauseWords cause = words("tasks");
    if (const std::string* place = places.get(); place && !place->empty()) cause << " " + *place;
    if (const auto part = largest_local(scene, scene.sample().front()))
        cause << "; each keeps `" + part->name + "` (" << CauseWords::size(part->bytes) << ")";
    if (2 * forsaken > scene.sample().size()) {
        cause << "; each waits for a future that nothing else holds, so nothing can complete it";
        return Cause{.kind = {},
                     .words = std::move(cause),
                     .fix = "keep the future where its result is set, and wait with asyncio.wait_for"};
    }
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .general = true,  // as do those of a server at work
                 .fix = "limit how many wait at once (asyncio.Semaphore), or set a timeout"};
}

std::optional<Cause> suspended(const Scene& scene) {
    std::string word;
    if (scene.holds(KnownType::coroutine)) word = "coroutines";
    if (scene.holds(KnownType::generator)) word = "generators";
    if (scene.holds(KnownType::async_generator)) word = "asynchronous generators";
    if (word.empty()) return std::nullopt;
    MostFrequent<std::string> places;
    for (const ObjectId one : scene.sample())
        places.add(suspended_words(scene.heap(), one), scene.retained(one));
    const std::string* place = places.get();
    if (!place || place->empty()) return std::nullopt;
    CauseWords cause = words(word, " ", *place);
    if (const auto part = scene.largest_part(scene.sample().front()))
        cause << "; each keeps `" + part->name + "` (" << CauseWords::size(part->bytes) << ")";
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .general = true,
                 .fix = "run them to their end, or call close() on them"};
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

constexpr Rule rules_of_queues[] = {
    {"log-records", log_records}, {"queue", queues}, {"tasks", tasks}, {"suspended", suspended}};

}  // namespace

std::span<const Rule> queue_rules() { return rules_of_queues; }

}  // namespace heapsift
