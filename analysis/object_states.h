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

/// For all objects: three bytes per object at most.
struct ObjectStates {
    Collection collection;
    Stored<std::uint8_t> of_garbage_list;  // by object, 0 or 1; empty if gc.garbage is
    Stored<ObjectState> state;             // by object
    std::array<std::uint64_t, 5> counts{};

    ObjectState of(ObjectId object) const { return state[object]; }
    /// Not reachable, and held by nothing.
    bool garbage(ObjectId object) const {
        return of(object) != ObjectState::reachable && of(object) != ObjectState::held;
    }
    /// True if it is in gc.garbage, or only that holds it.
    bool in_garbage_list(ObjectId object) const {
        return !of_garbage_list.empty() && of_garbage_list[object] != 0;
    }
    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        Collection::fields(self.collection, part, objects);
        part.column(self.of_garbage_list, [](std::uint8_t held) { return held <= 1; });
        part.column(self.state, [](ObjectState state) { return state <= ObjectState::invisible; });
        part.require(self.state.size() == objects &&
                         (self.of_garbage_list.empty() || self.of_garbage_list.size() == objects),
                     "not every object has a state");
        for (auto& count : self.counts) part.number(count);
    }
    std::uint64_t count(ObjectState of_state) const { return counts[static_cast<std::size_t>(of_state)]; }
};

/// Replays the collector (for the cost see replay_collector).
ObjectStates object_states(const HeapGraph& graph, const ProgressCallback& progress = {});

/// False if guesses decide between `waiting` and another state, and for an invisible object whose count
/// differs from the references found.
bool is_certain(const HeapReader& heap, const ObjectStates& states, ObjectId object);

/// The gc.garbage lists of all interpreters themselves, sorted.
std::vector<ObjectId> garbage_lists(const HeapReader& heap);

/// The objects in the gc.garbage lists of all interpreters, in order; each once.
std::vector<ObjectId> garbage_list_items(const HeapReader& heap);

}  // namespace heapsift
