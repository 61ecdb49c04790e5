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
#include "analysis/graph/source_rows.h"

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

    /// Of the nodes that `preorder` met; `sources` are the edges between them. Cost: some 20 ns per node of a
    /// heap; while it works, 8 bytes per node.
    static DominatorTree build(const Preorder& preorder, const SourceRows& sources);
    /// The same from a graph; for who has no other use for the rows.
    template <TargetsGraph Graph>
    static DominatorTree build(const Graph& graph, const Preorder& preorder) {
        return build(preorder, SourceRows::build(graph, preorder));
    }

    /// As a part of an index (parsers/index/part.h), for so many nodes of a preorder.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t reached) {
        part.column(self.dominator_, [](std::uint32_t dominator, std::size_t position) {
            return position == 0 ? dominator == none : dominator < position;
        });
        part.require(self.dominator_.size() == reached, "not every node has a dominator");
    }

private:
    Stored<std::uint32_t> dominator_;  // by position
};

}  // namespace heapsift
