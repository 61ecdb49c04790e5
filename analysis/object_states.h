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

/// Of all objects. It replays the collector; a byte an object.
class ObjectStates {
public:
    explicit ObjectStates(const HeapGraph& graph, const ProgressCallback& progress = {});

    const HeapGraph& graph() const { return graph_; }
    ObjectState of(ObjectId object) const { return state_[object]; }
    /// Not reachable, and held by nothing.
    bool garbage(ObjectId object) const {
        return of(object) != ObjectState::reachable && of(object) != ObjectState::held;
    }
    /// False where guesses decide between `waiting` and another word, and of an invisible object whose count
    /// the references found do not equal.
    bool certain(ObjectId object) const;
    /// Is it in gc.garbage, or held by that alone?
    bool in_garbage_list(ObjectId object) const {
        return !in_garbage_list_.empty() && in_garbage_list_[object];
    }
    std::uint64_t count(ObjectState state) const { return counts_[static_cast<std::size_t>(state)]; }
    const Collection& collection() const { return collection_; }

private:
    void find_garbage_lists();

    const HeapGraph& graph_;
    Collection collection_;
    std::vector<bool> in_garbage_list_;  // by object; empty where there is none
    std::vector<ObjectState> state_;     // by object
    std::array<std::uint64_t, 5> counts_{};
};

/// The objects in the lists gc.garbage of all interpreters, in their order; the same object once.
std::vector<ObjectId> garbage_list_items(const HeapReader& heap);

}  // namespace heapsift
