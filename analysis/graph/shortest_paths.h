#pragma once

// Cheapest paths from many starts at once, for steps that cost small whole numbers: R. Dial, Algorithm 360:
// Shortest-path forest with topological ordering (Communications of the ACM 12, 1969).
//
// The idea: instead of a heap, one queue for each cost, as many as the dearest step costs, reused in turn;
// each node is settled in constant time. The caller names the steps while the search runs, since the cost of
// a step may be expensive to find out. (Boost's dijkstra_shortest_paths keeps a heap, and wants the weights
// beforehand: it takes 3 times as long, 1.10 s against 0.36 s on the graph of tests/benchmarks/graph.cpp.)

#include "analysis/graph/node.h"
#include "parsers/base/narrow_numbers.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heapsift {

/// The result of a search. 6 bytes per node, 8 once a path costs 65,535; and 4 per settled node, where their order is
/// kept.
struct PathForest {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit PathForest(std::size_t node_count, bool with_order = true)
        : cost(node_count), previous(node_count), keeps_order(with_order) {
        if (with_order) settled.reserve(node_count);  // unused room is never touched
    }

    NarrowNumbers cost;               // by node; `none` if no path was found (yet)
    Column<NodeId, NodeId> previous;  // `no_node` for a start
    bool keeps_order;
    std::vector<NodeId> settled;  // if so: in the order in which they were settled, each after its `previous`
};

/// Nodes that wait, taken from the first to the last while others are added: in pieces, of which each is given back
/// when all in it were taken. Those of a heap wait in one or two queues, as long as the heap.
class WaitingNodes {
public:
    void push_back(NodeId node) {
        if (pieces_.empty() || pieces_.back().size() == piece) {
            pieces_.emplace_back();
            if (pieces_.size() > 1) pieces_.back().reserve(piece);
        }
        pieces_.back().push_back(node);
        ++size_;
    }
    /// With those that were taken.
    std::size_t size() const { return size_; }
    NodeId operator[](std::size_t at) const { return pieces_[at / piece][at % piece]; }
    /// All before that place were taken.
    void taken(std::size_t before) {
        if (before > 0 && before % piece == 0) pieces_[before / piece - 1] = std::vector<NodeId>();
    }
    /// Keeps what little room the next ones can use.
    void clear() {
        if (pieces_.size() > 1) pieces_.clear();
        if (!pieces_.empty()) pieces_.front().clear();
        size_ = 0;
    }

private:
    static constexpr std::size_t piece = 1 << 18;  // an array of a mebibyte goes back to the system
    std::vector<std::vector<NodeId>> pieces_;
    std::size_t size_ = 0;
};

/// One search. No step and no start may cost more than `most_cost`. While it works: one bit per node, and 4
/// bytes per path offered.
template <std::uint32_t most_cost>
class PathSearch {
public:
    explicit PathSearch(PathForest& forest) : forest_(forest), settled_(forest.previous.size()) {}

    bool is_settled(NodeId node) const { return settled_[node]; }

    /// Takes the path to `node` that comes from `previous` and costs `cost`, if it is cheaper than the known
    /// one; of two equal ones the first stays. `previous` is `no_node` if the path starts at `node`. Without `waits` the
    /// node is never settled, and half of those of a heap need not wait: those from which no path continues.
    bool offer(NodeId node, NodeId previous, std::uint32_t cost, bool waits = true) {
        if (cost >= forest_.cost[node]) return false;
        forest_.cost.set(node, cost);
        forest_.previous[node] = previous;
        if (waits) {
            buckets_[cost % bucket_count].push_back(node);
            ++pending_;
        }
        return true;
    }

    /// Settles nodes one by one, cheapest first: `settle(node)` offers the paths that continue from it, and
    /// returns false to end the search. `fetch(node, stage)` is called some steps before, as far as the node
    /// is known then, to prefetch what `settle` will read: with stage 0, then 1, then 2.
    template <class Settle, class Fetch>
    void run(Settle settle, Fetch fetch) {
        for (std::uint32_t cost = 0; pending_ > 0; ++cost) {
            WaitingNodes& bucket = buckets_[cost % bucket_count];
            for (std::size_t i = 0; i < bucket.size(); ++i) {  // it may grow: steps that cost nothing
                bucket.taken(i);
                const NodeId node = bucket[i];
                for (std::size_t stage = 0; stage < steps_ahead.size(); ++stage)
                    if (bucket.size() - i > steps_ahead[stage]) fetch(bucket[i + steps_ahead[stage]], stage);
                --pending_;
                if (forest_.cost[node] != cost || settled_[node]) continue;
                settled_[node] = true;
                if (forest_.keeps_order) forest_.settled.push_back(node);
                if (!settle(node)) return;
            }
            bucket.clear();
        }
    }

    template <class Settle>
    void run(Settle settle) {
        run(settle, [](NodeId, std::size_t) {});
    }

private:
    static constexpr std::array<std::size_t, 3> steps_ahead = {18, 12, 6};
    static constexpr std::uint32_t bucket_count = std::bit_ceil(most_cost + 2);

    PathForest& forest_;
    std::vector<bool> settled_;
    std::array<WaitingNodes, bucket_count> buckets_;
    std::uint64_t pending_ = 0;
};

}  // namespace heapsift
