#include "analysis/object_paths.h"

#include "analysis/object_row.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t longest_path = 64;

bool is_too_long(const RootPaths& paths, ObjectId object) {
    std::size_t length = 0;
    for (ObjectId at = object; at != no_object && length <= longest_path; at = paths.previous(at)) ++length;
    return length > longest_path;
}

/// Keeps `reference` in `best` if it is a better name for the step; `found` says whether `best` has one yet.
void prefer(Reference& best, bool& found, const Reference& reference) {
    if (!reference.followed || (found && !has_no_name(best.step))) return;
    if (!found || !has_no_name(reference.step)) best = reference;
    found = true;
}

}  // namespace

Reference step_between(const HeapReader& heap, ObjectId source, ObjectId target) {
    Reference best;
    bool found = false;
    heap.visit_references_to(source, {&target, 1},
                             [&](const Reference& reference) { prefer(best, found, reference); });
    return best;
}

StepsBetween::StepsBetween(const HeapReader& heap, std::vector<Pair> pairs) : pairs_(std::move(pairs)) {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    steps_.resize(pairs_.size());
    std::vector<ObjectId> targets;
    for (std::size_t first = 0; first < pairs_.size();) {
        const ObjectId source = pairs_[first].source;
        targets.clear();
        while (first + targets.size() < pairs_.size() && pairs_[first + targets.size()].source == source)
            targets.push_back(pairs_[first + targets.size()].target);
        std::vector<bool> found(targets.size());
        heap.visit_references_to(source, targets, [&](const Reference& reference) {
            const ObjectId target = heap.snapshot().find(reference.target);
            const auto at = std::lower_bound(targets.begin(), targets.end(), target);
            if (at == targets.end() || *at != target) return;
            const auto place = static_cast<std::size_t>(at - targets.begin());
            bool had = found[place];
            prefer(steps_[first + place], had, reference);
            found[place] = had;
        });
        first += targets.size();
    }
}

const Reference& StepsBetween::of(ObjectId source, ObjectId target) const {
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), Pair{source, target});
    assert(at != pairs_.end() && at->source == source && at->target == target);
    return steps_[static_cast<std::size_t>(at - pairs_.begin())];
}

std::string suspended_words(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    const TypeId type = columns.type_of(object);
    if (type == no_type || !has_own_frame(columns.types[type].known)) return {};
    const auto frame = generator_frame(heap.python_heap(), columns.address_of(object));
    return frame ? "suspended in " + frame_words(*frame) : std::string();
}

ExpressionFinder::ExpressionFinder(const HeapGraph& graph, const std::vector<ObjectId>& objects,
                                   const ProgressCallback& progress)
    : graph_(graph) {
    std::vector<ObjectId> wanted = objects;
    std::erase_if(wanted, [&](ObjectId object) { return graph.reach(object) == Reach::unreachable; });
    if (wanted.empty()) return;
    paths_ = root_paths(graph, PathWishes(), wanted, {}, progress);
    // Paths share their beginnings: what lies before an object that was met is there already.
    std::vector<StepsBetween::Pair> pairs;
    std::vector<bool> met(graph.object_count());
    for (const ObjectId object : wanted) {
        if (!paths_->found(object) || is_too_long(*paths_, object)) continue;
        for (ObjectId at = object; !met[at]; at = paths_->previous(at)) {
            met[at] = true;
            if (paths_->previous(at) == no_object) break;
            pairs.push_back({paths_->previous(at), at});
        }
    }
    steps_ = StepsBetween(graph.heap(), std::move(pairs));
}

std::optional<ExpressionFinder::Found> ExpressionFinder::of(ObjectId object) const {
    if (!paths_ || !paths_->found(object)) return std::nullopt;
    if (is_too_long(*paths_, object)) return std::nullopt;
    const std::vector<ObjectId> path = paths_->path(object);
    std::vector<Reference> steps;
    for (std::size_t i = 1; i < path.size(); ++i) steps.push_back(steps_.of(path[i - 1], path[i]));
    const Root& root = cheapest_root(graph_, path.front()).root;
    return Found{root, path_expression(graph_, root, path, steps)};
}

}  // namespace heapsift
