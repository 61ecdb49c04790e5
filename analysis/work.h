#pragma once

// What several analyses of one heap need: its graph, retained sizes, and why each object is still there. Each
// is computed once, when first asked for.

#include "analysis/holding/retained.h"
#include "analysis/object_states.h"

#include <optional>

namespace heapsift {

/// Not thread-safe. Refers to the heap, and so does the graph: it cannot be moved. Retained sizes and states
/// are columns, and refer to nothing.
class Work {
public:
    explicit Work(const HeapReader& heap, ProgressCallback progress = {})
        : heap_(heap), progress_(std::move(progress)) {}
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    const HeapReader& heap() const { return heap_; }
    const ProgressCallback& progress() const { return progress_; }

    const HeapGraph& graph() {
        if (!graph_) graph_.emplace(heap_, progress_);
        return *graph_;
    }
    const RetainedSizes& retained() {
        if (!retained_) retained_.emplace(retained_sizes(graph(), progress_));
        return *retained_;
    }
    const ObjectStates& states() {
        if (!states_) states_.emplace(object_states(graph(), progress_));
        return *states_;
    }

private:
    const HeapReader& heap_;
    ProgressCallback progress_;
    std::optional<HeapGraph> graph_;
    std::optional<RetainedSizes> retained_;
    std::optional<ObjectStates> states_;
};

}  // namespace heapsift
