// A task of C has its fields in a struct, one written in Python (asyncio.tasks._PyTask; all of them where the C module
// is missing) in attributes. Since 3.12 a subclass's attributes are managed by the interpreter; the fields stay where
// they are.

#include "parsers/reading/asyncio_objects.h"

#include "parsers/libraries/greenlets.h"
#include "parsers/values/parts.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_callbacks = 64;
constexpr std::size_t longest_task_name = 200;

const std::unordered_map<std::string_view, AsyncType>& async_types_by_name() {
    using enum AsyncType;
    static const std::unordered_map<std::string_view, AsyncType> names = {
        {"_asyncio.Task", task},
        {"asyncio.tasks.Task", task},
        {"_asyncio.Future", future},
        {"asyncio.futures.Future", future},
        {"asyncio.tasks._GatheringFuture", gathering_future},
        {"concurrent.futures._base.Future", concurrent_future},
        {"_asyncio.FutureIter", future_iterator},
        {"coroutine_wrapper", coroutine_wrapper},
        {"async_generator_asend", step_of_generator},
        {"async_generator_athrow", step_of_generator},
        {"anext_awaitable", step_of_generator},
        {"asyncio.events.Handle", handle},
        {"asyncio.events.TimerHandle", timer_handle},
        {"asyncio.timeouts.Timeout", timeout},
        {"asyncio.base_events.BaseEventLoop", loop},
        {"asyncio.events.AbstractEventLoop", loop},
        {"asyncio.queues.Queue", queue},
        {"asyncio.locks.Lock", lock},
        {"asyncio.locks.Event", event},
        {"asyncio.locks.Condition", condition},
        {"asyncio.locks.Semaphore", semaphore},
        {"asyncio.locks.Barrier", barrier},
        {"asyncio.taskgroups.TaskGroup", task_group},
        {"asyncio.streams.StreamReader", stream_reader},
        {"weakref", weak_reference},
        {"weakref.ReferenceType", weak_reference}};
    return names;
}

bool is_name_of_c(std::string_view name) { return name == "_asyncio.Task" || name == "_asyncio.Future"; }

template <class Fields>
FutureState state_behind(const ObjectReader& future, const Fields& fields) {
    // The state is behind the message of a cancellation, up to 3.8 behind the traceback of where it was made; since
    // 3.13 an exception lies between, since 3.14 also who waits for it.
    const LayoutOffset before = fields.cancel_message.present() ? fields.cancel_message : fields.source_tb;
    if (!before.present()) return FutureState::unknown;
    std::uint64_t at = *before + 8;
    for (const LayoutOffset between : {fields.cancelled, fields.awaited_by})
        if (between.present() && *between == at) at += 8;
    const auto state = future.heap().integer<std::uint32_t>(future.at(at));
    return state < 3 ? static_cast<FutureState>(state) : FutureState::unknown;
}

/// An instance has none until it is done: the class has PENDING.
FutureState state_in_words(const PythonHeap& heap, Address words) {
    if (words.is_null()) return FutureState::pending;
    if (heap.unicode_equals(words, "PENDING")) return FutureState::pending;
    if (heap.unicode_equals(words, "CANCELLED")) return FutureState::cancelled;
    return heap.unicode_equals(words, "FINISHED") ? FutureState::finished : FutureState::unknown;
}

/// Null for None.
Address unless_none(const PythonHeap& heap, Address object) {
    return object.is_null() || is_none(heap, object) ? Address() : object;
}

}  // namespace

AsyncTypes::AsyncTypes(const HeapReader& heap) : columns_(heap.snapshot()), rows_(columns_.types.size()) {
    const auto& names = async_types_by_name();
    for (TypeId type{0}; type < columns_.types.size(); ++type) {
        const TypeInfo& info = columns_.types[type];
        Row& row = rows_[type];
        if (is_greenlet(info)) {
            row.what = AsyncType::greenlet;
            continue;
        }
        for (const TypeInfo* at : lookup_order(heap.python_heap(), info)) {
            if (const auto found = names.find(at->name); row.what == AsyncType::other && found != names.end())
                row.what = found->second;
            row.of_c = row.of_c || is_name_of_c(at->name);
        }
    }
}

AsyncType AsyncTypes::of(ObjectId object) const {
    return object == no_object ? AsyncType::other : of(columns_.type_of(object));
}

bool AsyncTypes::any(AsyncType what) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.what == what; });
}

FutureState future_state(const ObjectReader& future, bool of_c) {
    if (!of_c) return state_in_words(future.heap(), stored_attribute(future, "_state"));
    return state_behind(future, future.layout().future);
}

TaskFacts task_facts(const ObjectReader& task, bool of_c) {
    const PythonHeap& heap = task.heap();
    const auto& l = task.layout().task;
    if (of_c)
        return {state_behind(task, l), unless_none(heap, task.pointer(l.coro)),
                unless_none(heap, task.pointer(l.waiter)), unless_none(heap, task.pointer(l.loop))};
    const auto attribute = [&](std::string_view name) {
        return unless_none(heap, stored_attribute(task, name));
    };
    return {state_in_words(heap, attribute("_state")), attribute("_coro"), attribute("_fut_waiter"),
            attribute("_loop")};
}

std::string task_name(const ObjectReader& task, bool of_c) {
    const PythonHeap& heap = task.heap();
    const Address name = of_c ? task.pointer(task.layout().task.name) : stored_attribute(task, "_name");
    if (name.is_null()) return {};
    // It is a number until somebody asks for it (3.12).
    if (const auto number = int_value(heap, name)) return "Task-" + std::to_string(*number);
    return heap.unicode_text(name, longest_task_name).value_or("");
}

std::vector<Address> future_callbacks(const ObjectReader& future, bool of_c) {
    const PythonHeap& heap = future.heap();
    const auto& l = future.layout().future;
    std::vector<Address> found;
    const auto add = [&](Address callback) {
        if (!callback.is_null()) found.push_back(callback);
    };
    if (of_c) add(unless_none(heap, future.pointer(l.callback0)));
    const Address list = of_c ? unless_none(heap, future.pointer(l.callbacks))
                              : unless_none(heap, stored_attribute(future, "_callbacks"));
    if (list.is_null()) return found;
    for (const Address pair : first_items(heap, list, most_callbacks).items) {
        const FirstItems parts = first_items(heap, pair, 1);  // the callback and its context
        add(parts.items.empty() ? Address() : parts.items.front());
    }
    return found;
}

Address attribute_of(const PythonHeap& heap, Address object, std::string_view name) {
    const auto reader = object_at(heap, object);
    if (!reader) return {};
    Address found = stored_attribute(*reader, name);
    // A future of C has a dict of its own, which classes that derive from it share (up to 3.11).
    if (const std::int64_t offset = reader->type().dictoffset; found.is_null() && offset > 0)
        if (const Address dict = reader->pointer_at(static_cast<std::uint64_t>(offset)); heap.is_dict(dict))
            found = heap.dict_value(dict, name);
    return unless_none(heap, found);
}

std::optional<double> number_of(const PythonHeap& heap, Address number) {
    if (number.is_null()) return std::nullopt;
    if (const auto whole = int_value(heap, number)) return static_cast<double>(*whole);
    const LayoutOffset value = heap.layout().float_.ob_fval;
    if (!heap.types().is(heap.type_of(number), KnownType::floating) || !value.present()) return std::nullopt;
    const auto real = heap.memory().read<double>(number + *value);
    return real && std::isfinite(*real) ? real : std::nullopt;
}

}  // namespace heapsift
