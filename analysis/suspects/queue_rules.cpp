// What waits to be done: queues, asyncio's tasks and coroutines, suspended generators, buffered log records.

#include "analysis/object_paths.h"
#include "analysis/suspects/rules.h"

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

std::optional<Cause> queues(const Scene& scene) {
    ObjectId queue = no_object;
    for (const ObjectId object : {scene.object(), scene.owner()})
        if (scene.is_a(object, {"queue.Queue", "_queue.SimpleQueue", "asyncio.queues.Queue",
                                "multiprocessing.queues.Queue", "multiprocessing.queues.SimpleQueue"}))
            queue = object;
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

/// Whether a task waits for a future (`_fut_waiter`: asyncio/tasks.py) that nobody but the task itself can reach:
/// nothing will ever set its result.
bool waits_for_nothing(const Scene& scene, ObjectId task) {
    const ObjectId future = scene.heap().snapshot().find(scene.attribute(task, "_fut_waiter"));
    return future != no_object && scene.dominates(task, future) && scene.is_fully_counted(future);
}

std::optional<Cause> tasks(const Scene& scene) {
    if (!scene.holds({"_asyncio.Task", "asyncio.tasks.Task"})) return std::nullopt;
    MostFrequent<std::string> places;
    std::size_t forsaken = 0;
    for (const ObjectId task : scene.sample()) {
        forsaken += waits_for_nothing(scene, task);
        const ObjectId coroutine = coroutine_of(scene, task);
        places.add(coroutine == no_object ? std::string() : suspended_words(scene.heap(), coroutine));
    }
    CauseWords cause = words("tasks");
    if (const std::string* place = places.get(); place && !place->empty()) cause << " " + *place;
    if (2 * forsaken > scene.sample().size()) {
        cause << "; each waits for a future that nothing else holds, so nothing can complete it";
        return Cause{.kind = {},
                     .words = std::move(cause),
                     .fix = "keep the future where its result is set, and wait with asyncio.wait_for"};
    }
    return Cause{.kind = {},
                 .words = std::move(cause),
                 .fix = "limit how many wait at once (asyncio.Semaphore), or set a timeout"};
}

std::optional<Cause> suspended(const Scene& scene) {
    std::string word;
    if (scene.holds(KnownType::coroutine)) word = "coroutines";
    if (scene.holds(KnownType::generator)) word = "generators";
    if (scene.holds(KnownType::async_generator)) word = "asynchronous generators";
    if (word.empty()) return std::nullopt;
    MostFrequent<std::string> places;
    for (const ObjectId one : scene.sample()) places.add(suspended_words(scene.heap(), one));
    const std::string* place = places.get();
    if (!place || place->empty()) return std::nullopt;
    CauseWords cause = words(word, " ", *place);
    if (const auto part = scene.largest_part(scene.sample().front()))
        cause << "; each keeps `" + part->name + "` (" << CauseWords::size(part->bytes) << ")";
    return Cause{
        .kind = {}, .words = std::move(cause), .fix = "run them to their end, or call close() on them"};
}

std::optional<Cause> log_records(const Scene& scene) {
    if (!scene.holds({"logging.LogRecord"})) return std::nullopt;
    ObjectId handler = no_object;
    for (const ObjectId object : scene.path())
        if (scene.is_a(object, {"logging.Handler"})) handler = object;
    if (handler == no_object)
        return Cause{.kind = {},
                     .words = words("log records that are kept, with the arguments of each call"),
                     .fix = "keep record.getMessage(), not the record"};
    const std::string capacity = attribute_text(scene, handler, {"capacity"});
    return Cause{.kind = {},
                 .words = words("log records that a ", short_type_name(scene.type_of(handler)), " buffers",
                                capacity.empty() ? "" : ", capacity=" + capacity),
                 .fix = "lower capacity or flushLevel, or give it a target"};
}

constexpr Rule rules_of_queues[] = {
    {"log-records", log_records}, {"queue", queues}, {"tasks", tasks}, {"suspended", suspended}};

}  // namespace

std::span<const Rule> queue_rules() { return rules_of_queues; }

}  // namespace heapsift
