#pragma once

// Graphs for tests: random ones, and shapes that break code which recurses or keeps too much per node.

#include "analysis/graph/csr.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace heapsift::test {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline Adjacency graph_of(std::uint32_t nodes, const Edges& edges) {
    std::vector<std::pair<NodeId, NodeId>> ids;
    for (const auto& [source, target] : edges) ids.emplace_back(NodeId(source), NodeId(target));
    return Adjacency::of_edges(nodes, ids);
}

inline Edges random_edges(std::mt19937& random, std::uint32_t nodes, std::uint32_t edges) {
    Edges result;
    for (std::uint32_t i = 0; i < edges; ++i) result.emplace_back(random() % nodes, random() % nodes);
    return result;
}

inline Edges chain(std::uint32_t nodes) {
    Edges edges;
    for (std::uint32_t i = 1; i < nodes; ++i) edges.emplace_back(i - 1, i);
    return edges;
}

inline Edges ring(std::uint32_t nodes) {
    Edges edges = chain(nodes);
    edges.emplace_back(nodes - 1, 0);
    return edges;
}

/// Node 0 refers to every other one, and they to it.
inline Edges star(std::uint32_t nodes) {
    Edges edges;
    for (std::uint32_t i = 1; i < nodes; ++i) {
        edges.emplace_back(0, i);
        edges.emplace_back(i, 0);
    }
    return edges;
}

/// A graph of which some edges do not count.
class FilteredGraph {
public:
    FilteredGraph(Adjacency all, std::uint32_t every) : all_(std::move(all)), every_(every) {}
    std::size_t node_count() const { return all_.node_count(); }
    NodeRow targets(NodeId node) const { return all_.targets(node); }
    bool follows(NodeId source, NodeId target) const { return (source * 7 + target * 13) % every_ != 0; }

private:
    Adjacency all_;
    std::uint32_t every_;
};

}  // namespace heapsift::test
