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

/// Of all objects: five bytes an object.
struct ObjectStates {
    Collection collection;
    std::vector<bool> of_garbage_list;  // by object; empty where gc.garbage is
    std::vector<ObjectState> state;     // by object
    std::array<std::uint64_t, 5> counts{};

    ObjectState of(ObjectId object) const { return state[object]; }
    /// Not reachable, and held by nothing.
    bool garbage(ObjectId object) const {
        return of(object) != ObjectState::reachable && of(object) != ObjectState::held;
    }
    /// Is it in gc.garbage, or held by that alone?
    bool in_garbage_list(ObjectId object) const {
        return !of_garbage_list.empty() && of_garbage_list[object];
    }
    std::uint64_t count(ObjectState of_state) const { return counts[static_cast<std::size_t>(of_state)]; }
};

/// It replays the collector (replay_collector says what that costs).
ObjectStates object_states(const HeapGraph& graph, const ProgressCallback& progress = {});

/// False where guesses decide between `waiting` and another word, and of an invisible object whose count the
/// references found do not equal.
bool is_certain(const HeapReader& heap, const ObjectStates& states, ObjectId object);

/// The objects in the lists gc.garbage of all interpreters, in their order; the same object once.
std::vector<ObjectId> garbage_list_items(const HeapReader& heap);

}  // namespace heapsift
