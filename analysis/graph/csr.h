#pragma once

// A graph in compressed sparse rows: 4 bytes per edge, 8 per node.

#include "analysis/graph/node.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

class Adjacency {
public:
    /// The edges of node i are targets[begin[i]] up to targets[begin[i + 1]]; `begin` has one element more
    /// than there are nodes.
    Adjacency(std::vector<std::uint64_t> begin, std::vector<NodeId> targets)
        : begin_(std::move(begin)), targets_(std::move(targets)) {}

    /// From edges (source, target) in any order; edges of one source keep theirs.
    static Adjacency of_edges(std::size_t node_count, std::span<const std::pair<NodeId, NodeId>> edges) {
        std::vector<std::uint64_t> begin(node_count + 1, 0);
        for (const auto& edge : edges) ++begin[edge.first + 1];
        for (std::size_t node = 0; node < node_count; ++node) begin[node + 1] += begin[node];
        std::vector<NodeId> targets(edges.size());
        std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
        for (const auto& [source, target] : edges) targets[next[source]++] = target;
        return {std::move(begin), std::move(targets)};
    }

    std::size_t node_count() const { return begin_.size() - 1; }
    std::uint64_t edge_count() const { return targets_.size(); }
    NodeRow targets(NodeId node) const {
        return NodeRow(
            std::span<const NodeId>(targets_.data() + begin_[node], targets_.data() + begin_[node + 1]));
    }

private:
    std::vector<std::uint64_t> begin_;
    std::vector<NodeId> targets_;
};

}  // namespace heapsift
