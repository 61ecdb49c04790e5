#pragma once

// What several analyses of one heap need: its graph, retained sizes, and why each object is still there. Each
// is computed once, when first asked for.

#include "analysis/holding/retained.h"
#include "analysis/holding/root_paths.h"
#include "analysis/kept_answers.h"
#include "analysis/object_states.h"

#include <optional>
#include <vector>

namespace heapsift {

/// As the functions of these names without `kept_`, unless `index`, which may be null, has the result.
RetainedSizes kept_retained_sizes(const HeapGraph& graph, IndexFile* index, const ProgressCallback& progress);
ObjectStates kept_object_states(const HeapGraph& graph, IndexFile* index, const ProgressCallback& progress);

/// Whether the graph, retained sizes and states are in `index`, apart from the heap's columns.
bool has_kept_work(const IndexFile& index);

/// Not thread-safe. Refers to the heap, and so does the graph: it cannot be moved. Retained sizes and states
/// are columns, and refer to nothing.
class Work {
public:
    /// What `index` keeps is read from there, and what questions found before from `answers`; both must live
    /// as long.
    explicit Work(const HeapReader& heap, ProgressCallback progress = {}, IndexFile* index = nullptr,
                  KeptAnswers* answers = nullptr)
        : heap_(heap), progress_(std::move(progress)), index_(index), answers_(answers) {}
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    const HeapReader& heap() const { return heap_; }
    const ProgressCallback& progress() const { return progress_; }
    /// What questions found before; null if nothing is kept.
    KeptAnswers* answers() { return answers_; }

    const HeapGraph& graph() {
        if (!graph_) graph_.emplace(heap_, progress_, index_);
        return *graph_;
    }
    const RetainedSizes& retained() {
        if (!retained_) retained_.emplace(kept_retained_sizes(graph(), index_, progress_));
        return *retained_;
    }
    const ObjectStates& states() {
        if (!states_) states_.emplace(kept_object_states(graph(), index_, progress_));
        return *states_;
    }

    /// The cheapest paths of all objects, if `index` has them. They are also found now if it has the graph:
    /// then a question was asked before, and more will be. Else null: who needs few of them finds these alone
    /// (root_paths).
    const EveryRootPath* paths();
    /// Finds them in any case.
    const EveryRootPath& every_path();

    /// Adds what was computed, as parts of an index; to be written while this lives.
    void add_parts(std::vector<PartWriter>& parts) const;

private:
    const HeapReader& heap_;
    ProgressCallback progress_;
    IndexFile* index_;
    KeptAnswers* answers_;
    std::optional<HeapGraph> graph_;
    std::optional<RetainedSizes> retained_;
    std::optional<ObjectStates> states_;
    std::optional<EveryRootPath> paths_;
};

}  // namespace heapsift
