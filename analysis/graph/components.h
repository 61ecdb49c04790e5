#pragma once

// Strongly connected components of a part of a graph: D. Pearce, A Space-Efficient Algorithm for Finding
// Strongly Connected Components (Information Processing Letters 116, 2016), with explicit stacks. Memory: 4
// bytes per node, and 4 more while it works; time: 50 to 100 ns per node. (Boost's strong_components takes 16
// bytes per node while it works, and 0.95 and 1.09 times as long in two runs of tests/benchmarks/graph.cpp,
// 1.4 times on a real heap.)

#include "analysis/graph/preorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

struct Components {
    static constexpr std::uint32_t none = Preorder::none;
    // by node: the number of its component, larger than those of the components it leads to; `none` outside
    // the part
    Column<NodeId, std::uint32_t> of_node;
    std::uint32_t count = 0;
};

/// Components of the nodes for which `in(node)` is true, and of the edges between them.
template <TargetsGraph Graph, class In>
Components strong_components(const Graph& graph, In in) {
    constexpr std::uint32_t none = Components::none;
    // For an open node its number in the walk, or the smallest it leads back to; for a closed node the number
    // of its component, counted down from the largest.
    Column<NodeId, std::uint32_t> low(graph.node_count(), 0);
    struct Step {
        NodeId node;
        std::size_t next;
        bool is_root;
    };
    std::vector<Step> path;
    std::vector<NodeId> open;
    std::uint32_t index = 1, component = none - 1;
    for (const NodeId start : low.ids()) {
        if (low[start] != 0 || !in(start)) continue;
        low[start] = index++;
        path.push_back({start, 0, true});
        while (!path.empty()) {
            Step& step = path.back();
            const NodeId node = step.node;
            const NodeRow targets = graph.targets(node);
            if (step.next > 0) {  // back from the previous target
                const NodeId target = targets[step.next - 1];
                if (in(target) && edge_counts(graph, node, target) && low[target] < low[node]) {
                    low[node] = low[target];
                    step.is_root = false;
                }
            }
            if (step.next < targets.size()) {
                const NodeId target = targets[step.next++];
                if (low[target] == 0 && in(target) && edge_counts(graph, node, target)) {
                    low[target] = index++;
                    path.push_back({target, 0, true});
                }
                continue;
            }
            const bool is_root = step.is_root;
            path.pop_back();
            if (!is_root) {
                open.push_back(node);
                continue;
            }
            --index;
            while (!open.empty() && low[open.back()] >= low[node]) {
                low[open.back()] = component;
                open.pop_back();
                --index;
            }
            low[node] = component--;
        }
    }
    Components result;
    result.count = none - 1 - component;
    result.of_node = std::move(low);
    for (std::uint32_t& value : result.of_node) value = value == 0 ? none : none - 1 - value;
    return result;
}

}  // namespace heapsift
