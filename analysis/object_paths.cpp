#include "analysis/object_paths.h"

#include "analysis/object_row.h"
#include "parsers/libraries/greenlets.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t longest_path = 64;

constexpr std::size_t most_kept_at_once = 4'000;  // objects

bool is_too_long(const RootPaths& paths, ObjectId object) {
    std::size_t length = 0;
    for (ObjectId at = object; at != no_object && length <= longest_path; at = paths.previous(at)) ++length;
    return length > longest_path;
}

/// Paths share their beginnings: what lies before an object that was met is there already.
PathLinks find_paths(const HeapGraph& graph, const std::vector<ObjectId>& wanted,
                     const ProgressCallback& progress) {
    const RootPaths paths = root_paths(graph, PathWishes(), wanted, {}, progress);
    PathLinks result;
    std::vector<bool> met(graph.object_count());
    for (const ObjectId object : wanted) {
        if (!paths.found(object) || is_too_long(paths, object)) continue;
        for (ObjectId at = object; at != no_object && !met[at]; at = paths.previous(at)) {
            met[at] = true;
            result.links.push_back({at, paths.previous(at)});
        }
    }
    std::sort(result.links.begin(), result.links.end(),
              [](const auto& a, const auto& b) { return a.object < b.object; });
    return result;
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

StepsBetween::StepsBetween(const HeapReader& heap, std::vector<Pair> pairs, std::size_t most_steps)
    : heap_(&heap), most_steps_(most_steps), pairs_(std::move(pairs)) {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
}

StepsBetween::StepsOfSource StepsBetween::read(ObjectId source) const {
    StepsOfSource result;
    result.source = source;
    const auto begin = std::lower_bound(pairs_.begin(), pairs_.end(), Pair{source, ObjectId(0)});
    result.first = static_cast<std::size_t>(begin - pairs_.begin());
    std::vector<ObjectId> targets;
    for (auto at = begin; at != pairs_.end() && at->source == source; ++at) targets.push_back(at->target);
    result.steps.resize(targets.size());
    std::vector<bool> found(targets.size());
    heap_->visit_references_to(source, targets, [&](const Reference& reference) {
        const ObjectId target = heap_->snapshot().find(reference.target);
        const auto at = std::lower_bound(targets.begin(), targets.end(), target);
        if (at == targets.end() || *at != target) return;
        const auto place = static_cast<std::size_t>(at - targets.begin());
        bool had = found[place];
        prefer(result.steps[place], had, reference);
        found[place] = had;
    });
    return result;
}

// The steps of a path are asked for one after the other, and then those of its neighbours: what a path needs is never
// dropped for what lies below it.
const StepsBetween::StepsOfSource& StepsBetween::steps_of(ObjectId source) const {
    if (const auto known = by_source_.find(source); known != by_source_.end()) {
        recent_.splice(recent_.begin(), recent_, known->second);
        return recent_.front();
    }
    recent_.push_front(read(source));
    by_source_.emplace(source, recent_.begin());
    steps_there_ += recent_.front().steps.size();
    while (steps_there_ > most_steps_ && recent_.size() > longest_path) {
        steps_there_ -= recent_.back().steps.size();
        by_source_.erase(recent_.back().source);
        recent_.pop_back();
    }
    return recent_.front();
}

Reference StepsBetween::of(ObjectId source, ObjectId target) const {
    const StepsOfSource& found = steps_of(source);
    const auto from = pairs_.begin() + static_cast<std::ptrdiff_t>(found.first);
    const auto to = from + static_cast<std::ptrdiff_t>(found.steps.size());
    const auto at = std::lower_bound(from, to, Pair{source, target});
    assert(at != to && at->target == target);
    return found.steps[static_cast<std::size_t>(at - from)];
}

std::string suspended_words(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    const TypeId type = columns.type_of(object);
    if (type == no_type) return {};
    const TypeInfo& of = columns.types[type];
    if (is_greenlet(of)) {
        const auto frames = greenlet_frames(ObjectReader(heap.python_heap(), columns.address_of(object), of));
        if (frames.empty()) return {};
        // Of gevent's own calls, which wait for the hub, each has some.
        const std::string library = library_folder(*columns.roots);
        const auto of_program = std::find_if(frames.begin(), frames.end(), [&](const PythonFrame& frame) {
            return is_file_of_program(frame.file, library);
        });
        return "suspended in " + frame_words(of_program == frames.end() ? frames.front() : *of_program);
    }
    if (!has_own_frame(of.known)) return {};
    const auto frame = generator_frame(heap.python_heap(), columns.address_of(object));
    return frame ? "suspended in " + frame_words(*frame) : std::string();
}

namespace {

/// Null where `object` is on no path.
const PathLinks::Link* link_of(const PathLinks& paths, ObjectId object) {
    const auto link =
        std::lower_bound(paths.links.begin(), paths.links.end(), object,
                         [](const PathLinks::Link& one, ObjectId other) { return one.object < other; });
    return link != paths.links.end() && link->object == object ? &*link : nullptr;
}

}  // namespace

ObjectId PathLinks::previous(ObjectId object) const {
    const Link* const link = link_of(*this, object);
    return link ? link->previous : no_object;
}

std::vector<ObjectId> PathLinks::path(ObjectId object) const {
    std::vector<ObjectId> result;
    for (ObjectId at = object; at != no_object;) {
        const Link* const link = link_of(*this, at);
        if (!link || result.size() == longest_path) return {};
        result.push_back(at);
        at = link->previous;
    }
    std::reverse(result.begin(), result.end());
    return result;
}

ExpressionFinder::ExpressionFinder(const HeapGraph& graph, const std::vector<ObjectId>& objects,
                                   const ProgressCallback& progress, KeptAnswers* answers)
    : graph_(graph) {
    std::vector<ObjectId> wanted = objects;
    std::erase_if(wanted, [&](ObjectId object) { return graph.reach(object) == Reach::unreachable; });
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    if (wanted.empty()) return;
    if (wanted.size() > most_kept_at_once) answers = nullptr;
    paths_ = kept_answer(answers, answers ? KeptQuestion("paths").with_all(wanted) : KeptQuestion("paths"),
                         graph.heap(), [&] { return find_paths(graph, wanted, progress); });
    std::vector<StepsBetween::Pair> pairs;
    for (const PathLinks::Link& link : paths_.links)
        if (link.previous != no_object) pairs.push_back({link.previous, link.object});
    steps_ = StepsBetween(graph.heap(), std::move(pairs));
}

std::optional<ExpressionFinder::Found> ExpressionFinder::of(ObjectId object) const {
    return express(paths_.path(object), no_object);
}

std::optional<ExpressionFinder::Found> ExpressionFinder::by_way_of(ObjectId source, ObjectId object) const {
    return express(paths_.path(source), object);
}

std::optional<ExpressionFinder::Found> ExpressionFinder::express(std::vector<ObjectId> path,
                                                                 ObjectId behind) const {
    if (path.empty() || graph_.roots_of(path.front()).empty()) return std::nullopt;
    std::vector<Reference> steps;
    for (std::size_t i = 1; i < path.size(); ++i) steps.push_back(steps_.of(path[i - 1], path[i]));
    if (behind != no_object) {
        steps.push_back(step_between(graph_.heap(), path.back(), behind));
        path.push_back(behind);
    }
    const Root& root = cheapest_root(graph_, path.front()).root;
    return Found{root, path_expression(graph_, root, path, steps)};
}

}  // namespace heapsift
