// The first path is the cheapest. Each further path comes through a different referrer: referrers are taken
// by the cost of their own cheapest path that avoids the object. If that path shares an object with those
// already given, one that shares none is looked for, and taken if it exists.
//
// A path that begins at a word of C code goes on upwards, through the block that has the word and those that
// lead to it, to a variable, a stack, or an object that owns them; and from that object up again.

#include "analysis/why.h"

#include "analysis/object_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace heapsift {
namespace {

constexpr int most_stages = 8;          // objects that only blocks of C code hold, on one path
constexpr std::size_t most_blocks = 6;  // listed of one way, unless all lines are

/// Several paths to one object, as they are kept.
struct ChosenPaths {
    struct Path {
        std::vector<ObjectId> objects;  // from the root down
        std::uint32_t root = 0;         // HeapGraph::roots
        bool disjoint = true;
    };
    std::vector<Path> paths;

    std::size_t rows() const {
        std::size_t count = 0;
        for (const Path& path : paths) count += path.objects.size();
        return count;
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        part.list(self.paths, [&](auto& path, Part& p) {
            kept_object_list(path.objects, p, graph.heap());
            p.number(path.root);
            p.number(path.disjoint);
            p.require(!path.objects.empty() && path.root < graph.roots().size(), "a path begins at no root");
        });
    }
};

class WhyFinder {
public:
    WhyFinder(const RetainedLookup& retained, ObjectId object, const WhyQuery& query,
              const ProgressCallback& progress, const EveryRootPath* every, KeptAnswers* answers)
        : every_(every),
          answers_(answers),
          retained_(retained),
          graph_(retained.graph()),
          heap_(graph_.heap()),
          holders_(heap_, answers),
          object_(object),
          query_(query),
          progress_(progress) {}

    WhyResult find() {
        WhyResult result;
        result.asked_paths = query_.paths;
        result.target = object_row(heap_, object_);
        result.retained = retained_.memory(object_);
        result.target.retained = result.retained;
        result.reach = graph_.reach(object_);
        const GroupId group = retained_.group(object_);
        result.group = group == no_group ? "shared by several groups" : graph_.groups()[group].name;
        result.immortal = result.target.facts.immortal;
        result.references_counted =
            static_cast<std::uint64_t>(std::max<std::int64_t>(result.target.facts.refcount, 0));
        result.references_found = columns().references->found(object_) + marked_references();
        find_referrers();
        result.referrers = referrer_edges_;
        for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(object_))
            result.referrers +=
                placed.root.kind != RootKind::native_unseen && placed.root.kind != RootKind::immortal;
        if (result.reach == Reach::unreachable)
            explain_garbage(result);
        else
            find_paths(result);
        return result;
    }

private:
    /// References from C code with a tag: they are roots, and not among the references.
    std::uint64_t marked_references() const {
        const auto natives = columns().references->natives();
        std::uint64_t count = 0;
        for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(object_)) {
            if (placed.block == no_node) continue;
            const auto at = std::lower_bound(natives.begin(), natives.end(), placed.root.word,
                                             [](const NativeReference& a, Address b) { return a.word < b; });
            count += at == natives.end() || at->word != placed.root.word;
        }
        return count;
    }

    void find_referrers() {
        for (const ObjectId source : columns().references->sources_of(object_)) {
            std::uint64_t edges = 0;
            for (const ObjectId target : graph_.targets(source))
                edges += target == object_ && graph_.follows(source, target);
            if (edges > 0) referrers_.push_back(source);
            referrer_edges_ += edges;
        }
    }

    PathWishes wishes() const {
        return {.without_frames = query_.without_frames,
                .without_tracebacks = query_.without_tracebacks,
                .without = {}};
    }

    /// To `object`; empty if it has none.
    std::vector<ObjectId> cheapest_path(ObjectId object) const {
        if (every_ && !query_.without_frames && !query_.without_tracebacks)
            if (auto path = every_->path(graph_, object)) return std::move(*path);
        const RootPaths paths = root_paths(graph_, wishes(), {object}, {}, progress_);
        return paths.found(object) ? paths.path(object) : std::vector<ObjectId>();
    }

    void find_paths(WhyResult& result) {
        if (query_.paths <= 1) {
            const std::vector<ObjectId> path = cheapest_path(object_);
            if (!path.empty()) result.paths.push_back(path_of(path, cheapest_root(graph_, path.front())));
            return;
        }
        const auto question = KeptQuestion("whypaths")
                                  .with(std::uint32_t{object_})
                                  .with(query_.paths)
                                  .with(query_.without_frames)
                                  .with(query_.without_tracebacks);
        const ChosenPaths chosen = kept_answer(answers_, question, graph_, [&] { return choose_paths(); });
        for (const ChosenPaths::Path& path : chosen.paths) {
            result.paths.push_back(path_of(path.objects, graph_.roots()[path.root]));
            result.paths.back().disjoint = path.disjoint;
        }
    }

    std::uint32_t number_of(const HeapGraph::PlacedRoot& root) const {
        return static_cast<std::uint32_t>(&root - graph_.roots().data());
    }

    ChosenPaths choose_paths() const {
        ChosenPaths chosen;
        // One search that ends at the object itself gives the cheapest path to it, and the cheapest path to
        // each referrer that avoids it.
        std::vector<ObjectId> wanted = referrers_;
        wanted.push_back(object_);
        const RootPaths paths = root_paths(graph_, wishes(), wanted, {object_}, progress_);
        struct Candidate {
            std::uint32_t cost;
            ObjectId referrer;  // no_object: the object hangs at a root
            const HeapGraph::PlacedRoot* root;
        };
        std::vector<Candidate> candidates;
        for (const ObjectId referrer : referrers_)
            if (referrer != object_ && paths.found(referrer))
                candidates.push_back({paths.cost(referrer) + cheapest_step(referrer), referrer, nullptr});
        for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(object_))
            if (!query_.without_frames || placed.root.frame < 0)
                candidates.push_back({root_cost(placed.root), no_object, &placed});
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
        std::vector<ObjectId> used;  // sorted
        for (const Candidate& candidate : candidates) {
            if (chosen.paths.size() >= query_.paths) break;
            if (candidate.root)
                chosen.paths.push_back({{object_}, number_of(*candidate.root)});
            else
                chosen.paths.push_back(path_through(candidate.referrer, paths, used));
        }
        return chosen;
    }

    ChosenPaths::Path path_through(ObjectId referrer, const RootPaths& paths,
                                   std::vector<ObjectId>& used) const {
        std::vector<ObjectId> path = paths.path(referrer);
        const HeapGraph::PlacedRoot* root = &cheapest_root(graph_, path.front());
        const auto is_used = [&](ObjectId object) {
            return std::binary_search(used.begin(), used.end(), object);
        };
        bool disjoint = std::none_of(path.begin(), path.end(), is_used);
        if (!disjoint && !is_used(referrer)) {
            PathWishes others = wishes();
            others.without = used;
            const RootPaths around = root_paths(graph_, others, {referrer}, {object_});
            if (around.found(referrer)) {
                path = around.path(referrer);
                root = &cheapest_root(graph_, path.front());
                disjoint = true;
            }
        }
        // Modules are on many paths, and tell nothing new.
        for (std::size_t i = root->root.kind == RootKind::module ? 2 : 0; i < path.size(); ++i)
            used.push_back(path[i]);
        std::sort(used.begin(), used.end());
        path.push_back(object_);
        return {std::move(path), number_of(*root), disjoint};
    }

    std::uint32_t cheapest_step(ObjectId source) const {
        struct Cheapest final : OwnedReferenceVisitor {
            explicit Cheapest(ObjectId w) : wanted(w) {}
            void visit(ObjectId target, const ReferenceName& name) override {
                if (target == wanted) cost = std::min(cost, step_cost(name));
            }
            ObjectId wanted;
            std::uint32_t cost = 100;
        } cheapest(object_);
        heap_.visit_owned_references(source, cheapest);
        return cheapest.cost;
    }

    Reference from_block(ObjectId target, Address word) const {
        Reference reference;
        reference.target = columns().address_of(target);
        reference.kind = ReferenceKind::native;
        reference.word = word;
        reference.step = named_step("<block of C code>");
        reference.step.nameless = true;
        return reference;
    }

    WhyStep step(ObjectId source, ObjectId target, const Reference& reference) const {
        WhyStep made;
        made.edge = {brief_object_row(heap_, source), brief_object_row(heap_, target), reference, true,
                     std::nullopt};
        made.retained = retained_.memory(target);
        made.remark = suspended_words(heap_, target);
        return made;
    }

    /// What hangs at a word of C code hangs, through blocks, at something else.
    struct Ascent {
        std::vector<ObjectId> objects;
        const HeapGraph::PlacedRoot* root;
        std::vector<WhyBlock> blocks;
        std::vector<std::pair<std::size_t, Address>>
            words;                  // the object at that place is held by this word of a block
        std::string words_of_root;  // where the way ends at no root of an object
        Address address_of_root;
    };

    void ascend(Ascent& path) {
        for (int stage = 0; stage < most_stages && path.root->block != no_node; ++stage) {
            const NativeWay way = holders_.way_to(graph_.block_of(path.root->block));
            const std::vector<ObjectId> above = objects_above(path, way.beginning);
            std::vector<WhyBlock> blocks = blocks_of(way);
            path.blocks.insert(path.blocks.begin(), blocks.begin(), blocks.end());
            path.words.insert(path.words.begin(), {0, path.root->root.word});
            if (above.empty()) {
                path.words.erase(path.words.begin());  // a root has no reference from an object
                path.words_of_root = words_of(way.beginning);
                path.address_of_root = way.beginning.address;
                return;
            }
            for (WhyBlock& block : path.blocks) block.place += above.size();
            for (auto& [place, word] : path.words) place += above.size();
            path.objects.insert(path.objects.begin(), above.begin(), above.end());
            path.root = &cheapest_root(graph_, above.front());
        }
    }

    /// The path to the object with which the way begins; empty if it begins with none, or with one that is on
    /// the path.
    std::vector<ObjectId> objects_above(const Ascent& path, const NativeEnd& beginning) const {
        if (!beginning.object) return {};
        std::vector<ObjectId> above = cheapest_path(beginning.object->id);
        const auto is_on_path = [&](ObjectId object) {
            return std::find(path.objects.begin(), path.objects.end(), object) != path.objects.end();
        };
        if (std::any_of(above.begin(), above.end(), is_on_path)) above.clear();
        return above;
    }

    /// From the outermost; of many, the first and the last.
    std::vector<WhyBlock> blocks_of(const NativeWay& way) const {
        std::vector<WhyBlock> blocks;
        const std::size_t count = way.blocks.size();
        const std::size_t shown = query_.lines == 0 || count <= most_blocks + 1 ? count : most_blocks;
        for (std::size_t i = 0; i < shown; ++i) {
            const bool is_first = i < (shown + 1) / 2;
            const BlockId block = way.blocks[is_first ? count - 1 - i : shown - 1 - i];
            WhyBlock& made = blocks.emplace_back();
            made.block = end_at(heap_, block);
            made.retained = retained_.memory(graph_.node_of(block));
            if (i == (shown + 1) / 2) made.left_out = count - shown;
        }
        return blocks;
    }

    static std::string words_of(const NativeEnd& beginning) {
        if (beginning.leaked) return "C code's memory that leaked: no word leads to it";
        if (beginning.object) return "C code's memory to which only these objects lead";
        return beginning.words;
    }

    WhyPath path_of(std::vector<ObjectId> from_root, const HeapGraph::PlacedRoot& placed_root) {
        Ascent ascent{std::move(from_root), &placed_root, {}, {}, {}, {}};
        ascend(ascent);
        const std::vector<ObjectId>& objects = ascent.objects;
        const Root& root = ascent.root->root;
        WhyPath path;
        path.root = root;
        path.root_words = ascent.words_of_root;
        if (path.root_words.empty() && root.kind == RootKind::native && graph_.native())
            path.root_words = holders_.of(root.word).way.front().words;
        if (path.root_words.empty()) path.root_words = root_words(graph_, root);
        path.blocks = std::move(ascent.blocks);
        path.root_address = columns().address_of(objects.front());
        if (!ascent.address_of_root.is_null()) path.root_address = ascent.address_of_root;
        path.at_root = brief_object_row(heap_, objects.front());
        path.root_retained = retained_.memory(objects.front());
        for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(objects.front())) {
            if (placed.root.word != root.word || placed.root.kind != root.kind) continue;
            NodeId parent = placed.parent;
            if (graph_.kind(parent) == NodeKind::frame) parent = retained_.dominator(parent);
            if (graph_.kind(parent) != NodeKind::group) continue;
            const Group& group = graph_.groups()[graph_.group_of(parent)];
            path.group_kind = group.kind;
            path.group = group.name;
        }
        if (root.frame >= 0 && !root.word.is_null()) {
            const PythonFrame& frame = graph_.frame({root.thread, root.frame});
            path.root_address = frame.frame;
            EdgeRow edge;
            edge.source.address = frame.frame;
            edge.target = path.at_root;
            edge.reference.target = path.at_root.address;
            edge.reference.kind = ReferenceKind::native;
            edge.reference.word = root.word;
            edge.reference.step = named_step(root.text);
            if (!root.name.is_null()) {
                edge.reference.step.kind = ReferenceStep::Kind::frame_local;
                edge.reference.step.name = heap_.python_heap().unicode_text(root.name, 200).value_or("?");
            }
            path.first = std::move(edge);
        }
        std::vector<Reference> references;
        auto held = ascent.words.begin();
        for (std::size_t i = 1; i < objects.size(); ++i) {
            if (held != ascent.words.end() && held->first == i)
                references.push_back(from_block(objects[i], (held++)->second));
            else
                references.push_back(step_between(heap_, objects[i - 1], objects[i]));
            path.steps.push_back(step(objects[i - 1], objects[i], references.back()));
        }
        path.expression = path_expression(graph_, root, objects, references);
        return path;
    }

    // --- garbage

    /// The shortest path from one of `starts` to `end` through unreachable objects.
    std::vector<ObjectId> way(const std::vector<ObjectId>& starts, ObjectId end) const {
        std::vector<ObjectId> previous(graph_.object_count(), no_object);
        std::vector<bool> seen(graph_.object_count());
        std::deque<ObjectId> pending(starts.begin(), starts.end());
        for (const ObjectId start : starts) seen[start] = true;
        while (!pending.empty()) {
            const ObjectId source = pending.front();
            pending.pop_front();
            for (const ObjectId target : graph_.targets(source)) {
                if (!graph_.follows(source, target)) continue;
                if (target == end) {
                    std::vector<ObjectId> found{end};
                    for (ObjectId at = source; at != no_object; at = previous[at]) found.push_back(at);
                    std::reverse(found.begin(), found.end());
                    return found;
                }
                if (seen[target]) continue;
                seen[target] = true;
                previous[target] = source;
                pending.push_back(target);
            }
        }
        return {};
    }

    std::vector<WhyStep> steps_of(const std::vector<ObjectId>& objects) const {
        std::vector<WhyStep> steps;
        for (std::size_t i = 1; i < objects.size(); ++i)
            steps.push_back(
                step(objects[i - 1], objects[i], step_between(heap_, objects[i - 1], objects[i])));
        return steps;
    }

    void explain_garbage(WhyResult& result) const {
        result.cycle = steps_of(way({object_}, object_));
        if (!result.cycle.empty()) return;
        const NodeId garbage = graph_.node_of(graph_.unreachable_group());
        std::vector<ObjectId> sources;
        for (const NodeId source : graph_.targets(garbage)) sources.push_back(graph_.object_of(source));
        if (std::find(sources.begin(), sources.end(), object_) == sources.end())
            result.from_cycle = steps_of(way(sources, object_));
    }

    const EveryRootPath* every_;
    KeptAnswers* answers_;
    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    NativeHolderFinder holders_;
    ObjectId object_;
    const WhyQuery& query_;
    const ProgressCallback& progress_;
    std::vector<ObjectId> referrers_;  // each once
    std::uint64_t referrer_edges_ = 0;
};

std::vector<PathLine> lines_of(const WhyPath& path) {
    std::vector<PathLine> lines;
    const auto type_of = [&](std::size_t place) {
        return place == 0 ? path.at_root.type : path.steps[place - 1].edge.target.type;
    };
    const std::vector<PrintedStep>& printed = path.expression.steps;
    const bool root_is_printed = !printed.empty() && printed.front().leads_to == 0;
    // The line above names modules and frames; other roots are objects of their own.
    const bool said_above = path.root.kind == RootKind::module || path.root.kind == RootKind::frame;
    auto block = path.blocks.begin();
    const auto add_blocks = [&](std::size_t place) {
        const bool any = block != path.blocks.end() && block->place <= place;
        for (; block != path.blocks.end() && block->place <= place; ++block) {
            if (block->left_out > 0)
                lines.push_back({.kind = PathLine::Kind::left_out, .count = block->left_out});
            const auto index = static_cast<std::size_t>(block - path.blocks.begin());
            lines.push_back({.kind = PathLine::Kind::block, .place = index});
        }
        return any;
    };
    if (add_blocks(0) || printed.empty() || (!root_is_printed && !said_above))
        lines.push_back({.names = {}, .place = 0, .type = type_of(0)});
    for (const PrintedStep& step : printed) {
        if (add_blocks(step.leads_to)) {
            lines.push_back({.names = {}, .place = step.leads_to, .type = type_of(step.leads_to)});
            continue;
        }
        const bool local = lines.empty() && path.root.kind == RootKind::frame && is_dotted(step.name);
        lines.push_back({.names = {step.name},
                         .without_dot = local,
                         .place = step.leads_to,
                         .type = type_of(step.leads_to)});
    }
    return lines;
}

}  // namespace

void lay_out(WhyResult& result, std::size_t limit) {
    for (WhyPath& path : result.paths) path.lines = folded_lines(lines_of(path), limit);
    const std::vector<WhyStep>& steps = result.cycle.empty() ? result.from_cycle : result.cycle;
    std::vector<PathLine> lines;
    for (std::size_t i = 0; i < steps.size(); ++i)
        lines.push_back(
            {.names = {steps[i].edge.reference.step}, .place = i + 1, .type = steps[i].edge.target.type});
    result.garbage_lines = folded_lines(lines, limit);
}

WhyResult why(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, const WhyQuery& query,
              const ProgressCallback& progress, const ObjectStates* states, const EveryRootPath* every,
              KeptAnswers* answers) {
    graph.give_up_sources();  // retained sizes are there; the search for paths takes as much memory
    WhyResult result =
        WhyFinder(RetainedLookup(graph, sizes), object, query, progress, every, answers).find();
    if (states) result.target.state = states->of(object);
    lay_out(result, query.lines);
    return result;
}

}  // namespace heapsift
