// What the collector would find waits for it, even where a guess of ours seems to hold it: the collector
// counts by what it knows. What gc.garbage alone holds was found and not freed: uncollectable, though the
// list can be reached. Of what no root reaches and the collector does not find, the counts are all explained
// by references found (else it were held), and these come from nothing that is alive: it is closed under
// references that no traverse reports. Nobody will ever free it.

#include "analysis/object_states.h"

#include "analysis/holding/retained.h"
#include "parsers/cpython/gc_state.h"
#include "parsers/cpython/python_heap.h"

#include <algorithm>

namespace heapsift {
namespace {

/// The lists themselves.
std::vector<ObjectId> garbage_lists(const HeapReader& heap) {
    std::vector<ObjectId> lists;
    for (const PythonInterpreter& interpreter : heap.python().interpreters) {
        const auto state = gc_state(heap.core().memory(), heap.python(), interpreter, 0, false);
        if (!state || state->garbage.is_null()) continue;
        if (const ObjectId list = heap.find(state->garbage); list != no_object) lists.push_back(list);
    }
    std::sort(lists.begin(), lists.end());
    lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
    return lists;
}

ObjectState state_by(CollectorVerdict verdict, Reach reach, bool in_garbage_list) {
    switch (verdict) {
        case CollectorVerdict::collectable:
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
    const bool may_wait =
        verdict == CollectorVerdict::frozen_garbage || verdict == CollectorVerdict::doubtful;
    return may_wait ? ObjectState::waiting : ObjectState::invisible;
}

}  // namespace

std::vector<ObjectId> garbage_list_items(const HeapReader& heap) {
    std::vector<ObjectId> items;
    for (const ObjectId list : garbage_lists(heap)) {
        const auto targets = heap.references().targets(list);
        items.insert(items.end(), targets.begin(), targets.end());
    }
    std::vector<bool> seen(items.empty() ? 0 : heap.object_count());
    std::erase_if(items, [&](ObjectId item) {
        const bool again = seen[item];
        seen[item] = true;
        return again ||
               heap.types().find(heap.address_of(item)) != no_type;  // the class of a list of a subclass
    });
    return items;
}

void ObjectStates::find_garbage_lists() {
    if (garbage_list_items(graph_.heap()).empty()) return;
    const std::vector<ObjectId> lists = garbage_lists(graph_.heap());
    in_garbage_list_.assign(graph_.object_count(), false);
    for (const ObjectId object : retained_by(graph_, lists))
        in_garbage_list_[object] =
            graph_.reach(object) == Reach::named && !std::binary_search(lists.begin(), lists.end(), object);
}

ObjectStates::ObjectStates(const HeapGraph& graph, const ProgressCallback& progress)
    : graph_(graph), collection_(replay_collector(graph.heap(), progress)) {
    find_garbage_lists();
    state_.reserve(graph.object_count());
    for (ObjectId object{0}; object < graph.object_count(); ++object) {
        state_.push_back(state_by(collection_.of[object], graph.reach(object), in_garbage_list(object)));
        ++counts_[static_cast<std::size_t>(state_.back())];
    }
}

bool ObjectStates::certain(ObjectId object) const {
    if (of(object) != ObjectState::invisible) return collection_.of[object] != CollectorVerdict::doubtful;
    const HeapReader& heap = graph_.heap();
    return heap.collector_facts(object).refcount == std::int64_t{heap.references().found(object)};
}

}  // namespace heapsift
