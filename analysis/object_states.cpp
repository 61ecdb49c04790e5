// Whatever the collector would find is waiting for it, even if one of our guesses seems to hold it: the
// collector decides by what it knows. What gc.garbage alone holds was found and not freed: uncollectable,
// although the list is reachable. For what no root reaches and the collector does not find, references
// explain every count (otherwise it would be held), and none of them comes from anything alive: it is closed
// under references that no traverse reports, and will never be freed.

#include "analysis/object_states.h"

#include "analysis/holding/retained.h"
#include "parsers/cpython/gc_state.h"
#include "parsers/cpython/python_heap.h"

#include <algorithm>

namespace heapsift {

std::vector<ObjectId> garbage_lists(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<ObjectId> lists;
    for (const PythonInterpreter& interpreter : columns.python.interpreters) {
        const auto state = gc_state(heap.core().memory(), columns.python, interpreter, 0, false);
        if (!state || state->garbage.is_null()) continue;
        if (const ObjectId list = columns.find(state->garbage); list != no_object) lists.push_back(list);
    }
    std::sort(lists.begin(), lists.end());
    lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
    return lists;
}

namespace {

ObjectState state_by(CollectorVerdict verdict, Reach reach, bool in_garbage_list) {
    switch (verdict) {
        case CollectorVerdict::collectable:
        case CollectorVerdict::doubtful:
        case CollectorVerdict::dies:
            return ObjectState::waiting;
        case CollectorVerdict::uncollectable:
            return ObjectState::uncollectable;
        default:
            break;
    }
    if (in_garbage_list) return ObjectState::uncollectable;
    if (reach == Reach::named) return ObjectState::reachable;
    if (reach == Reach::held) return ObjectState::held;
    return verdict == CollectorVerdict::frozen_garbage ? ObjectState::waiting : ObjectState::invisible;
}

}  // namespace

std::vector<ObjectId> garbage_list_items(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<ObjectId> items;
    for (const ObjectId list : garbage_lists(heap)) {
        const auto targets = columns.references->targets(list);
        items.insert(items.end(), targets.begin(), targets.end());
    }
    std::vector<bool> seen(items.empty() ? 0 : columns.object_count());
    std::erase_if(items, [&](ObjectId item) {
        const bool again = seen[item];
        seen[item] = true;
        return again ||
               columns.types.find(columns.address_of(item)) != no_type;  // the class of a list of a subclass
    });
    return items;
}

namespace {

/// By object; empty if the lists are empty.
std::vector<std::uint8_t> held_by_garbage_lists(const HeapGraph& graph) {
    if (garbage_list_items(graph.heap()).empty()) return {};
    const std::vector<ObjectId> lists = garbage_lists(graph.heap());
    std::vector<std::uint8_t> held(graph.object_count());
    for (const ObjectId object : retained_by(graph, lists).objects)
        held[object] =
            graph.reach(object) == Reach::named && !std::binary_search(lists.begin(), lists.end(), object)
                ? 1
                : 0;
    return held;
}

}  // namespace

ObjectStates object_states(const HeapGraph& graph, const ProgressCallback& progress) {
    ObjectStates states;
    graph.give_up_sources();  // the replay takes as much memory, and few walk sets after it
    states.collection = replay_collector(graph.heap(), progress);
    states.of_garbage_list = held_by_garbage_lists(graph);
    std::vector<ObjectState> state_of;
    state_of.reserve(graph.object_count());
    for (ObjectId object{0}; object < graph.object_count(); ++object) {
        state_of.push_back(
            state_by(states.collection.of[object], graph.reach(object), states.in_garbage_list(object)));
        ++states.counts[static_cast<std::size_t>(state_of.back())];
    }
    states.state = std::move(state_of);
    return states;
}

bool is_certain(const HeapReader& heap, const ObjectStates& states, ObjectId object) {
    if (states.of(object) != ObjectState::invisible)
        return states.collection.of[object] != CollectorVerdict::doubtful;
    return heap.collector_facts(object).refcount ==
           static_cast<std::int64_t>(heap.snapshot().references->found(object));
}

}  // namespace heapsift
