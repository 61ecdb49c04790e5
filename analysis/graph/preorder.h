#pragma once

// A depth-first numbering of a graph: the order in which nodes are first met. Neighbours in the walk are
// neighbours in memory, and a node's number is larger than those of all its dominators. (Boost's
// depth_first_visit takes 1.3 times as long: 0.62 s against 0.49 s on the graph of
// tests/benchmarks/graph.cpp.)

#include "analysis/graph/targets_graph.h"
#include "parsers/base/stored.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace heapsift {

/// 12 bytes per node.
class Preorder {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit Preorder(std::size_t node_count) : position_(std::vector<std::uint32_t>(node_count, none)) {
        node_at_.fill().reserve(node_count);
        parent_.fill().reserve(node_count);
    }

    /// Nodes met so far.
    std::size_t reached() const { return node_at_.size(); }
    /// `none` for a node that was not met.
    std::uint32_t position(NodeId node) const { return position_[node]; }
    NodeId node_at(std::uint32_t position) const { return node_at_[position]; }
    /// The position from which it was met; `none` for the root.
    std::uint32_t parent(std::uint32_t position) const { return parent_[position]; }
    std::span<const std::uint32_t> parents() const { return parent_; }
    /// Prefetches what `position` or `parent` will read.
    void fetch_position(NodeId node) const { __builtin_prefetch(&position_[node]); }
    void fetch_parent(std::uint32_t position) const { __builtin_prefetch(&parent_[position]); }

    /// Meets `node` and everything it reaches, except what was met before; does nothing if `node` was.
    /// `parent`: the position of the root, whose walk then counts as still running; `none` for the root
    /// itself. Some 30 ns per node of a heap, 110 in one that has aged.
    template <TargetsGraph Graph>
    void walk(const Graph& graph, NodeId node, std::uint32_t parent = none);

    /// As a part of an index (parsers/index/part.h), of so many nodes. One that was read is not walked
    /// further.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t node_count);

private:
    Stored<std::uint32_t> position_;  // by node
    Stored<NodeId> node_at_;          // by position
    Stored<std::uint32_t> parent_;    // by position
};

template <class Self, class Part>
void Preorder::fields(Self& self, Part& part, std::size_t node_count) {
    part.column(self.node_at_, [&](NodeId node) { return node < node_count; });
    const std::size_t reached = self.node_at_.size();
    part.column(self.position_, [&](std::uint32_t position, std::size_t node) {
        return position == none || (position < reached && self.node_at_[position] == NodeId(node));
    });
    part.column(self.parent_, [](std::uint32_t parent, std::size_t position) {
        return position == 0 ? parent == none : parent < position;
    });
    part.require(self.position_.size() == node_count && self.parent_.size() == reached,
                 "the columns of the preorder have different lengths");
}

template <TargetsGraph Graph>
void Preorder::walk(const Graph& graph, NodeId start, std::uint32_t start_parent) {
    struct Step {
        std::uint32_t position;
        NodeRow::iterator next;  // the next target to look at
        NodeRow::iterator end;
    };
    // Prefetched: whether the next targets were met, and where their rows begin; then the rows, and in the
    // middle of a long row also the same of what these lead to. (Of a node's first target nothing is there in
    // time.)
    constexpr std::ptrdiff_t ahead = 8;
    std::vector<Step> path;
    const auto fetch = [&](NodeId node) {
        fetch_position(node);
        fetch_row(graph, node);
    };
    std::vector<std::uint32_t>& position_of = position_.fill();
    std::vector<NodeId>& nodes = node_at_.fill();
    std::vector<std::uint32_t>& parents = parent_.fill();
    const auto fetch_first = [&](const NodeRow& row) {
        const auto last = row.begin() + std::min<std::ptrdiff_t>(ahead, row.end() - row.begin());
        for (auto it = row.begin(); it != last; ++it) fetch(*it);
    };
    const auto enter = [&](NodeId node, std::uint32_t parent) {
        const auto position = static_cast<std::uint32_t>(nodes.size());
        position_of[node] = position;
        nodes.push_back(node);
        parents.push_back(parent);
        const NodeRow targets = graph.targets(node);
        if (targets.empty()) return;
        path.push_back({position, targets.begin(), targets.end()});
        fetch_first(targets);
    };
    if (position_of[start] != none) return;
    enter(start, start_parent);
    while (!path.empty()) {
        Step& step = path.back();
        const NodeId target = *step.next++;
        const std::uint32_t from = step.position;
        if (step.end - step.next >= ahead) {
            fetch(step.next[ahead - 1]);
            graph.targets(step.next[ahead / 2]).fetch();
            if (position_[step.next[1]] == none) fetch_first(graph.targets(step.next[1]));
        } else if (step.next != step.end) {
            graph.targets(*step.next).fetch();
        } else {
            path.pop_back();
        }
        if (position_of[target] == none && edge_counts(graph, nodes[from], target)) enter(target, from);
    }
    node_at_.filled();
    parent_.filled();
}

}  // namespace heapsift
