#include "analysis/object_paths.h"

#include "analysis/object_row.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t longest_path = 64;

}  // namespace

Reference step_between(const HeapReader& heap, ObjectId source, ObjectId target) {
    std::optional<Reference> best;
    heap.visit_references_to(source, target, [&](const Reference& reference) {
        if (!reference.followed || (best && !has_no_name(best->step))) return;
        if (!best || !has_no_name(reference.step)) best = reference;
    });
    return best.value_or(Reference());
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
    if (!wanted.empty()) paths_ = root_paths(graph, PathWishes(), std::move(wanted), {}, progress);
}

std::optional<ExpressionFinder::Found> ExpressionFinder::of(ObjectId object) const {
    if (!paths_ || !paths_->found(object)) return std::nullopt;
    const std::vector<ObjectId> path = paths_->path(object);
    if (path.size() > longest_path) return std::nullopt;
    std::vector<Reference> steps;
    for (std::size_t i = 1; i < path.size(); ++i)
        steps.push_back(step_between(graph_.heap(), path[i - 1], path[i]));
    const Root& root = cheapest_root(graph_, path.front()).root;
    return Found{root, path_expression(graph_, root, path, steps)};
}

}  // namespace heapsift
