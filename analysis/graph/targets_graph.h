#pragma once

// What the algorithms of this folder require of a graph. They do not know what its nodes stand for: a heap's
// objects and groups are numbers here (analysis/holding gives them their meaning).

#include "analysis/graph/node.h"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapsift {

/// Nodes are numbers from 0; `graph.targets(node)` are the nodes it refers to, with multiplicity, in any
/// order.
template <class Graph>
concept TargetsGraph = requires(const Graph& graph, NodeId node) {
    { graph.node_count() } -> std::convertible_to<std::size_t>;
    { graph.targets(node) } -> std::same_as<NodeRow>;
};

/// True if the edge counts. A graph may have `follows(source, target)`, to leave out some of its targets.
template <TargetsGraph Graph>
bool edge_counts(const Graph& graph, NodeId source, NodeId target) {
    if constexpr (requires {
                      { graph.follows(source, target) } -> std::convertible_to<bool>;
                  })
        return graph.follows(source, target);
    else
        return true;
}
/// The same, for who knows the positions of both in the preorder that the graph itself consults: it may have
/// `follows(source, source_position, target, target_position)`.
template <TargetsGraph Graph>
bool edge_counts(const Graph& graph, NodeId source, std::uint32_t source_position, NodeId target,
                 std::uint32_t target_position) {
    if constexpr (requires { graph.follows(source, source_position, target, target_position); })
        return graph.follows(source, source_position, target, target_position);
    else
        return edge_counts(graph, source, target);
}

/// Prefetches where the row of `node` begins, if the graph has `fetch_row`.
template <TargetsGraph Graph>
void fetch_row(const Graph& graph, NodeId node) {
    if constexpr (requires { graph.fetch_row(node); }) graph.fetch_row(node);
}

}  // namespace heapsift
