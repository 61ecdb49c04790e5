#include "analysis/picture.h"

#include "analysis/holding/root_paths.h"
#include "analysis/node_edges.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_neighbours = 10;  // objgraph's too_many

class Painter {
public:
    Painter(const RetainedLookup& retained, std::size_t limit)
        : retained_(retained), graph_(retained.graph()), limit_(limit), edges_(graph_) {}

    bool full() const { return picture_.nodes.size() >= limit_; }

    /// The node's index, added if it is new; nothing if there is no room.
    std::optional<std::size_t> place(NodeId node, std::uint32_t distance) {
        if (const auto known = place_of_.find(node); known != place_of_.end()) return known->second;
        if (full()) return std::nullopt;
        PictureNode made;
        made.node = node;
        made.kind = graph_.kind(node);
        made.retained = retained_.memory(node);
        made.distance = distance;
        picture_.deepest = std::max(picture_.deepest, distance);
        if (made.kind == NodeKind::object) {
            made.object = brief_object_row(graph_.heap(), graph_.object_of(node));
            made.module = graph_.columns().types.is(graph_.columns().type_of(graph_.object_of(node)),
                                                    KnownType::module);
        } else {
            made.name = edges_.name(node);
        }
        place_of_.emplace(node, picture_.nodes.size());
        picture_.nodes.push_back(std::move(made));
        return picture_.nodes.size() - 1;
    }
    PictureNode& operator[](std::size_t place) { return picture_.nodes[place]; }

    /// Adds the first of an object's references to another, and the number of further ones.
    void connect(std::size_t source, std::size_t target) {
        if (!connected_.emplace(source, target).second) return;
        PictureEdge edge;
        edge.source = source;
        edge.target = target;
        std::uint64_t count = 0;
        edges_.visit(picture_.nodes[source].node, [&](const NodeEdge& e, const ReferenceStep& name) {
            if (e.target != picture_.nodes[target].node || !e.followed || ++count > 1) return;
            edge.name = name;
        });
        edge.more = count > 1 ? count - 1 : 0;
        picture_.edges.push_back(std::move(edge));
    }
    /// For the dominator tree: edges have no names.
    void connect_dominated(std::size_t source, std::size_t target) {
        PictureEdge edge;
        edge.source = source;
        edge.target = target;
        picture_.edges.push_back(std::move(edge));
    }

    Picture take() { return std::move(picture_); }
    Picture& picture() { return picture_; }

private:
    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    std::size_t limit_;
    NodeEdgeFinder edges_;
    Picture picture_;
    std::unordered_map<NodeId, std::size_t> place_of_;
    std::set<std::pair<std::size_t, std::size_t>> connected_;
};

/// Whether nobody looks for it in a picture: None, which everything refers to; and by `source`, whether it is a constant
/// or a name of a code object.
bool is_left_out(const HeapGraph& graph, NodeId source, NodeId target) {
    if (graph.kind(target) != NodeKind::object) return graph.kind(target) == NodeKind::block;
    const HeapSnapshot& columns = graph.columns();
    const auto is = [&](NodeId node, KnownType type) {
        return graph.kind(node) == NodeKind::object &&
               columns.types.is(columns.type_of(graph.object_of(node)), type);
    };
    return is(target, KnownType::none) || is(source, KnownType::code);
}

/// The referrers of each of `targets`, each referrer once, sorted by number. One pass over the graph.
std::map<NodeId, std::vector<NodeId>> referrers_of(const HeapGraph& graph,
                                                   const std::vector<NodeId>& targets) {
    std::map<NodeId, std::vector<NodeId>> result;
    for (const NodeId target : targets) result[target];
    std::vector<bool> wanted(graph.node_count());
    for (const NodeId target : targets) wanted[target] = true;
    for (std::uint64_t number = 0; number < graph.node_count(); ++number) {
        const auto source = static_cast<NodeId>(number);
        if (graph.kind(source) == NodeKind::block) continue;
        for (const NodeId target : graph.targets(source)) {
            if (!wanted[target] || !graph.follows(source, target)) continue;
            std::vector<NodeId>& found = result[target];
            if (found.empty() || found.back() != source) found.push_back(source);
        }
    }
    return result;
}

void add_path(Painter& painter, const RetainedLookup& retained, ObjectId object) {
    const HeapGraph& graph = retained.graph();
    const RootPaths paths = root_paths(graph, {}, {object});
    if (!paths.found(object)) return;
    const std::vector<ObjectId> path = paths.path(object);
    std::optional<std::size_t> below;
    std::uint32_t distance = 0;
    for (auto step = path.rbegin(); step != path.rend(); ++step, ++distance) {
        const auto place = painter.place(graph.node_of(*step), distance);
        if (place && below) painter.connect(*place, *below);
        below = place;
        if (!place) return;
    }
    for (NodeId above = cheapest_root(graph, path.front()).parent; above != no_node && above != graph.root();
         ++distance) {
        const auto place = painter.place(above, distance);
        if (!place) return;
        painter.connect(*place, *below);
        below = place;
        above = graph.preorder().parent(graph.preorder().position(above)) == Preorder::none
                    ? no_node
                    : graph.preorder().node_at(graph.preorder().parent(graph.preorder().position(above)));
    }
}

void add_referrers(Painter& painter, const RetainedLookup& retained, ObjectId object, std::size_t depth) {
    const HeapGraph& graph = retained.graph();
    std::vector<NodeId> level{graph.node_of(object)};
    for (std::uint32_t distance = 1; distance <= depth && !level.empty(); ++distance) {
        std::vector<NodeId> next;
        for (auto& [target, referrers] : referrers_of(graph, level)) {
            // Those that retain most come first.
            std::stable_sort(referrers.begin(), referrers.end(),
                             [&](NodeId a, NodeId b) { return retained.memory(a) > retained.memory(b); });
            const auto below = painter.place(target, distance - 1);
            std::size_t drawn = 0;
            for (const NodeId referrer : referrers) {
                const auto above = drawn < most_neighbours ? painter.place(referrer, distance) : std::nullopt;
                if (!above || !below) continue;
                ++drawn;
                painter.connect(*above, *below);
                if (graph.kind(referrer) == NodeKind::object) next.push_back(referrer);
            }
            if (below) painter[*below].left_out = referrers.size() - drawn;
        }
        level = std::move(next);
    }
}

void add_referents(Painter& painter, const RetainedLookup& retained, ObjectId object, std::size_t depth) {
    const HeapGraph& graph = retained.graph();
    std::vector<NodeId> level{graph.node_of(object)};
    for (std::uint32_t distance = 1; distance <= depth && !level.empty(); ++distance) {
        std::vector<NodeId> next;
        for (const NodeId source : level) {
            const auto above = painter.place(source, distance - 1);
            std::vector<NodeId> targets;
            for (const NodeId target : graph.targets(source))
                if (!is_left_out(graph, source, target) && graph.follows(source, target))
                    targets.push_back(target);
            std::sort(targets.begin(), targets.end());
            targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
            std::stable_sort(targets.begin(), targets.end(),
                             [&](NodeId a, NodeId b) { return retained.memory(a) > retained.memory(b); });
            targets.resize(std::min(targets.size(), most_neighbours));
            for (const NodeId target : targets) {
                const auto below = painter.place(target, distance);
                if (!above || !below) continue;
                painter.connect(*above, *below);
                next.push_back(target);
            }
        }
        level = std::move(next);
    }
}

}  // namespace

Picture picture_of(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, std::size_t depth,
                   std::size_t limit) {
    const RetainedLookup retained(graph, sizes);
    Painter painter(retained, limit);
    painter.picture().of_object = true;
    painter.place(HeapGraph::node_of(object), 0);
    add_path(painter, retained, object);
    add_referrers(painter, retained, object, depth);
    add_referents(painter, retained, object, depth);
    return painter.take();
}

Picture picture_of_top(const HeapGraph& graph, const RetainedSizes& sizes, std::size_t depth,
                       std::size_t limit) {
    const RetainedLookup retained(graph, sizes);
    Painter painter(retained, limit);
    struct Candidate {
        std::uint64_t memory;
        NodeId node;
        std::uint32_t distance;
        std::size_t above;
        bool operator<(const Candidate& other) const {
            return memory != other.memory ? memory < other.memory : node > other.node;
        }
    };
    std::priority_queue<Candidate> candidates;
    const NodeId root = retained.graph().root();
    candidates.push({retained.memory(root), root, 0, 0});
    while (!candidates.empty()) {
        const Candidate next = candidates.top();
        candidates.pop();
        if (next.memory == 0) continue;
        const auto place = painter.place(next.node, next.distance);
        if (!place) {
            ++painter[next.above].left_out;
            continue;
        }
        if (next.node != root) painter.connect_dominated(next.above, *place);
        if (next.distance > depth) continue;
        // Only as many as there is room for can be drawn.
        const std::vector<NodeId> children = retained.children(next.node);
        const std::size_t count = std::min(children.size(), limit);
        for (std::size_t i = 0; i < count; ++i)
            candidates.push({retained.memory(children[i]), children[i], next.distance + 1, *place});
        painter[*place].left_out += children.size() - count;
    }
    return painter.take();
}

}  // namespace heapsift
