#pragma once

// Dominators of everything that a root reaches, and sums over their tree.
//
// The problem: deleting an object frees what is reached through it alone: the objects that it dominates.
// Heaps have ten million objects, chains just as long, and lists that refer to each other. A recursive
// algorithm overflows its stack; one with a container per node takes a kilobyte for each.
//
// The idea: Semi-NCA (L. Georgiadis, Linear-Time Algorithms for Dominators and Related Problems, Princeton
// 2005, chapter 2), on 32-bit arrays in preorder, so that neighbours in the tree are neighbours in memory,
// and without recursion. Most nodes have the same dominator as they have parent in the preorder: these are not
// written down twice.

#include "analysis/graph/preorder.h"
#include "analysis/graph/source_rows.h"
#include "parsers/base/ranked_set.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// The tree of immediate dominators below a root. A position is a place in the preorder: the root has 0, and
/// every node a larger one than its dominator. A quarter of a byte per node, in addition to the preorder, to which
/// it refers, and 4 for each whose dominator is not its parent there: what several nodes hold together.
class DominatorTree {
public:
    static constexpr std::uint32_t none = Preorder::none;

    /// Nodes that the root reaches, itself included.
    std::size_t reached() const { return parents_.size(); }
    /// The position of the immediate dominator; `none` for the root.
    std::uint32_t dominator(std::uint32_t position) const {
        return others_.has(position) ? dominator_[others_.rank(position)] : parents_[position];
    }

    /// visit(position, its dominator's), from the last position down to 1.
    template <class F>
    void visit_down(F&& visit) const {
        std::size_t place = dominator_.size();
        for (auto p = static_cast<std::uint32_t>(reached()); p-- > 1;)
            visit(p, others_.has(p) ? dominator_[--place] : parents_[p]);
    }
    /// Adds each node's value to its dominator's, from the leaves up: each value becomes the sum over all
    /// that the node dominates, itself included. By position.
    template <class T>
    void add_up(std::vector<T>& of_position) const {
        visit_down([&](std::uint32_t p, std::uint32_t above) { of_position[above] += of_position[p]; });
    }

    /// Of the nodes that `preorder` met; `sources` are the edges between them. Cost: some 20 ns per node of a
    /// heap; while it works, 4 bytes per node, and 8 for each that leads to another one.
    static DominatorTree build(const Preorder& preorder, const SourceRows& sources);
    /// The same from a graph; for who has no other use for the rows.
    template <TargetsGraph Graph>
    static DominatorTree build(const Graph& graph, const Preorder& preorder) {
        return build(preorder, SourceRows::build(graph, preorder));
    }

    /// As a part of an index (parsers/index/part.h), for the nodes of that preorder.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, const Preorder& preorder) {
        const std::size_t reached = preorder.reached();
        if constexpr (Part::reading) self.parents_ = preorder.parents();
        RankedSet::fields(self.others_, part, reached);
        std::size_t position = 0;  // behind the one whose dominator was seen last
        part.column(self.dominator_, [&](std::uint32_t dominator) {
            while (position < reached && !self.others_.has(position)) ++position;
            return position < reached && dominator < position++;
        });
        part.require(self.dominator_.size() == self.others_.count(), "not every node has a dominator");
    }

private:
    std::span<const std::uint32_t> parents_;  // Preorder::parents
    RankedSet others_;                        // positions of those that another node dominates
    Stored<std::uint32_t> dominator_;         // by place among these
};

}  // namespace heapsift
