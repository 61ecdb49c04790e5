#pragma once

// Why each object is still there, in the five words of the contract. (How they are told apart:
// object_states.cpp.)

#include "analysis/collector.h"
#include "analysis/holding/heap_graph.h"
#include "analysis/object_row.h"

#include <array>
#include <optional>
#include <vector>

namespace heapsift {

/// For all objects: five bytes per object.
struct ObjectStates {
    Collection collection;
    std::vector<bool> of_garbage_list;  // by object; empty if gc.garbage is
    std::vector<ObjectState> state;     // by object
    std::array<std::uint64_t, 5> counts{};

    ObjectState of(ObjectId object) const { return state[object]; }
    /// Not reachable, and held by nothing.
    bool garbage(ObjectId object) const {
        return of(object) != ObjectState::reachable && of(object) != ObjectState::held;
    }
    /// True if it is in gc.garbage, or only that holds it.
    bool in_garbage_list(ObjectId object) const {
        return !of_garbage_list.empty() && of_garbage_list[object];
    }
    std::uint64_t count(ObjectState of_state) const { return counts[static_cast<std::size_t>(of_state)]; }
};

/// Replays the collector (for the cost see replay_collector).
ObjectStates object_states(const HeapGraph& graph, const ProgressCallback& progress = {});

/// False if guesses decide between `waiting` and another state, and for an invisible object whose count
/// differs from the references found.
bool is_certain(const HeapReader& heap, const ObjectStates& states, ObjectId object);

/// The objects in the gc.garbage lists of all interpreters, in order; each once.
std::vector<ObjectId> garbage_list_items(const HeapReader& heap);

}  // namespace heapsift
