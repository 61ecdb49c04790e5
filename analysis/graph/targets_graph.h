#pragma once

// What the algorithms of this folder ask of a graph. They know nothing of what its nodes stand for: a heap's
// objects and groups are numbers here (analysis/holding gives them their meaning).

#include "analysis/graph/node.h"

#include <concepts>
#include <cstddef>

namespace heapsift {

/// Nodes are numbers from 0 on; `graph.targets(node)` are those it refers to, with multiplicity, in any
/// order.
template <class Graph>
concept TargetsGraph = requires(const Graph& graph, NodeId node) {
    { graph.node_count() } -> std::convertible_to<std::size_t>;
    { graph.targets(node) } -> std::same_as<NodeRow>;
};

/// Is an edge one that counts? A graph may have `follows(source, target)` and leave some of its targets out
/// by it.
template <TargetsGraph Graph>
bool edge_counts(const Graph& graph, NodeId source, NodeId target) {
    if constexpr (requires {
                      { graph.follows(source, target) } -> std::convertible_to<bool>;
                  })
        return graph.follows(source, target);
    else
        return true;
}

}  // namespace heapsift
