#pragma once

// Cheapest paths from many starts at once, where steps cost small whole numbers: R. Dial, Algorithm 360:
// Shortest-path forest with topological ordering (Communications of the ACM 12, 1969).
//
// The idea: a queue for each cost, and as many in turn as the dearest step costs, serve in place of a heap;
// each node is settled in constant time. Steps are told by the caller while the search is under way, for what
// a step costs may be dear to find out. (Boost's dijkstra_shortest_paths keeps a heap, and asks for weights
// beforehand: it takes 3 times as long, 1.10 s against 0.36 on the graph of tests/benchmarks/graph.cpp.)

#include "analysis/graph/node.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heapsift {

/// What a search found. 8 bytes a node, and 4 for each that was settled.
struct PathForest {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit PathForest(std::size_t node_count) : cost(node_count, none), previous(node_count) {}

    Column<NodeId, std::uint32_t> cost;  // `none` where no path was found (yet)
    Column<NodeId, NodeId> previous;     // `no_node` for a start
    std::vector<NodeId> settled;         // in the order in which their costs were known: after `previous`
};

/// One search. No step and no start costs more than `most_cost`. A bit a node, and 4 bytes for each path that
/// was offered, while it works.
template <std::uint32_t most_cost>
class PathSearch {
public:
    explicit PathSearch(PathForest& forest) : forest_(forest), settled_(forest.cost.size()) {}

    bool is_settled(NodeId node) const { return settled_[node]; }

    /// Takes the path to `node` that costs `cost` and comes from `previous` (`no_node`: it starts there), if it
    /// is cheaper than what is known. Of two that cost the same the first one stays.
    bool offer(NodeId node, NodeId previous, std::uint32_t cost) {
        if (cost >= forest_.cost[node]) return false;
        forest_.cost[node] = cost;
        forest_.previous[node] = previous;
        buckets_[cost % bucket_count].push_back(node);
        ++pending_;
        return true;
    }

    /// Settles one node after the other, the cheapest first: `settle(node)` offers the paths that go on from
    /// it, and returns false to end the search.
    template <class Settle>
    void run(Settle settle) {
        for (std::uint32_t cost = 0; pending_ > 0; ++cost) {
            std::vector<NodeId>& bucket = buckets_[cost % bucket_count];
            for (std::size_t i = 0; i < bucket.size(); ++i) {  // it may grow: steps that cost nothing
                const NodeId node = bucket[i];
                --pending_;
                if (forest_.cost[node] != cost || settled_[node]) continue;
                settled_[node] = true;
                forest_.settled.push_back(node);
                if (!settle(node)) return;
            }
            bucket.clear();
        }
    }

private:
    static constexpr std::uint32_t bucket_count = std::bit_ceil(most_cost + 2);

    PathForest& forest_;
    std::vector<bool> settled_;
    std::array<std::vector<NodeId>, bucket_count> buckets_;
    std::uint64_t pending_ = 0;
};

}  // namespace heapsift
