#pragma once

// Dominators of everything that a root reaches, and sums over their tree.
//
// The problem: deleting an object frees what is reached through it alone: the objects that it dominates.
// Heaps have ten million objects, chains just as long, and lists that refer to each other. A recursive
// algorithm overflows its stack; one with a container per node takes a kilobyte for each.
//
// The idea: Semi-NCA (L. Georgiadis, Linear-Time Algorithms for Dominators and Related Problems, Princeton
// 2005, chapter 2), on 32-bit arrays in preorder, so that neighbours in the tree are neighbours in memory,
// and without recursion.

#include "analysis/graph/preorder.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// The tree of immediate dominators below a root. A position is a place in the preorder: the root has 0, and
/// every node a larger one than its dominator. 4 bytes per node, in addition to the preorder.
class DominatorTree {
public:
    static constexpr std::uint32_t none = Preorder::none;

    /// Nodes that the root reaches, itself included.
    std::size_t reached() const { return dominator_.size(); }
    /// The position of the immediate dominator; `none` for the root.
    std::uint32_t dominator(std::uint32_t position) const { return dominator_[position]; }

    /// Adds each node's value to its dominator's, from the leaves up: each value becomes the sum over all
    /// that the node dominates, itself included. By position.
    template <class T>
    void add_up(std::vector<T>& of_position) const {
        for (std::size_t p = dominator_.size(); p-- > 1;) of_position[dominator_[p]] += of_position[p];
    }

    /// For the nodes of `graph` that `preorder` met. Cost: some 150 ns per node of a heap; while it works, 20
    /// bytes per node and 4 per edge.
    template <TargetsGraph Graph>
    static DominatorTree build(const Graph& graph, const Preorder& preorder);

private:
    void solve(const std::vector<std::uint32_t>& parents, const std::vector<std::uint64_t>& first_source,
               const std::vector<std::uint32_t>& sources);

    std::vector<std::uint32_t> dominator_;  // by position
};

template <TargetsGraph Graph>
DominatorTree DominatorTree::build(const Graph& graph, const Preorder& preorder) {
    DominatorTree tree;
    // The sources of each node, by position: counted, then filled in from the end of each part. The parent in
    // the walk need not be among them: a node's semidominator starts with it.
    const auto count = static_cast<std::uint32_t>(preorder.reached());
    std::vector<std::uint64_t> first(std::size_t{count} + 1, 0);
    const auto visit_edges = [&](auto&& visit) {
        for (std::uint32_t p = 0; p < count; ++p) {
            const NodeId node = preorder.node_at(p);
            for (const NodeId target : graph.targets(node)) {
                const std::uint32_t at = preorder.position(target);
                if (at == none || at == p || preorder.parent(at) == p || !edge_counts(graph, node, target))
                    continue;
                visit(p, at);
            }
        }
    };
    visit_edges([&](std::uint32_t, std::uint32_t target) { ++first[target]; });
    for (std::size_t p = 1; p <= count; ++p) first[p] += first[p - 1];
    std::vector<std::uint32_t> sources(first[count]);
    visit_edges([&](std::uint32_t source, std::uint32_t target) { sources[--first[target]] = source; });
    tree.solve(preorder.parents(), first, sources);
    return tree;
}

}  // namespace heapsift
