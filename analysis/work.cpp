#include "analysis/work.h"

#include "parsers/index/index_file.h"

namespace heapsift {
namespace {

constexpr auto retained_part = "retained", states_part = "states", paths_part = "paths";

}  // namespace

RetainedSizes kept_retained_sizes(const HeapGraph& graph, IndexFile* index,
                                  const ProgressCallback& progress) {
    RetainedSizes kept;
    if (index && index->read(retained_part, [&](PartReader& part) {
            RetainedSizes::fields(kept, part, graph.preorder(), graph.block_count() > 0);
        }))
        return kept;
    return retained_sizes(graph, progress);
}

ObjectStates kept_object_states(const HeapGraph& graph, IndexFile* index, const ProgressCallback& progress) {
    ObjectStates kept;
    if (index && index->read(states_part, [&](PartReader& part) {
            ObjectStates::fields(kept, part, graph.object_count());
        }))
        return kept;
    return object_states(graph, progress);
}

bool has_kept_work(const IndexFile& index) {
    return index.has(HeapGraph::part_name) && index.has(retained_part) && index.has(states_part);
}

const EveryRootPath* Work::paths() {
    if (paths_) return &*paths_;
    return index_ && (index_->has(paths_part) || index_->has(HeapGraph::part_name)) ? &every_path() : nullptr;
}

const EveryRootPath& Work::every_path() {
    if (paths_) return *paths_;
    EveryRootPath kept;
    const bool there = index_ && index_->read(paths_part, [&](PartReader& part) {
        EveryRootPath::fields(kept, part, graph().object_count());
    });
    paths_.emplace(there ? std::move(kept) : EveryRootPath::find(graph(), progress_));
    return *paths_;
}

void Work::add_parts(std::vector<PartWriter>& parts) const {
    if (graph_) graph_->write_walk(parts.emplace_back(HeapGraph::part_name));
    if (retained_)
        RetainedSizes::fields(*retained_, parts.emplace_back(retained_part), graph_->preorder(),
                              graph_->block_count() > 0);
    if (states_) ObjectStates::fields(*states_, parts.emplace_back(states_part), graph_->object_count());
    if (paths_) EveryRootPath::fields(*paths_, parts.emplace_back(paths_part), graph_->object_count());
}

}  // namespace heapsift
