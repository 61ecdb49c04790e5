#include "analysis/node_edges.h"

#include "analysis/path_expression.h"

#include <algorithm>
#include <numeric>

namespace heapsift {

NodeEdgeFinder::NodeEdgeFinder(const HeapGraph& graph)
    : graph_(graph), names_(graph), by_parent_(graph.roots().size()) {
    std::iota(by_parent_.begin(), by_parent_.end(), 0U);
    std::stable_sort(by_parent_.begin(), by_parent_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.roots()[a].parent < graph.roots()[b].parent;
    });
}

std::string NodeEdgeFinder::name(NodeId node) const {
    switch (graph_.kind(node)) {
        case NodeKind::root:
            return "(GC roots)";
        case NodeKind::group:
            return graph_.groups()[graph_.group_of(node)].name;
        case NodeKind::frame:
            return frame_words(graph_.frame(graph_.frame_of(node)));
        case NodeKind::block:
            return "block of C code";
        case NodeKind::object:
            break;
    }
    return {};
}

std::vector<std::pair<NodeEdge, ReferenceStep>> NodeEdgeFinder::of_no_object(NodeId node) {
    std::vector<std::pair<NodeEdge, ReferenceStep>> edges;
    const auto add = [&](NodeId target, bool followed, std::string called) {
        edges.emplace_back(NodeEdge{target, followed}, named_step(std::move(called)));
    };
    if (node == graph_.root()) {  // including empty groups, which the graph leaves out
        for (GroupId group{0}; group < graph_.groups().all.size(); ++group)
            add(graph_.node_of(group), true, name(graph_.node_of(group)));
        return edges;
    }
    const auto& roots = graph_.roots();
    auto root =
        std::lower_bound(by_parent_.begin(), by_parent_.end(), node,
                         [&](std::uint32_t number, NodeId parent) { return roots[number].parent < parent; });
    for (const NodeId target : graph_.targets(node))
        if (graph_.kind(target) == NodeKind::frame) add(target, true, name(target));
    std::vector<NodeId> hanging(graph_.targets(node).begin(), graph_.targets(node).end());
    std::sort(hanging.begin(), hanging.end());
    for (; root != by_parent_.end() && roots[*root].parent == node; ++root) {
        const NodeId object = graph_.node_of(roots[*root].root.object);
        // Not all of them hang there: a word of C code does not take a module's dict from the module.
        const bool hangs =
            roots[*root].block != no_node || std::binary_search(hanging.begin(), hanging.end(), object);
        add(object, hangs, names_.name(roots[*root].root));
    }
    if (graph_.kind(node) == NodeKind::group && graph_.group_of(node) == graph_.unreachable_group())
        for (const NodeId target : graph_.targets(node)) add(target, true, "unreachable");
    return edges;
}

}  // namespace heapsift
