// Boost.Graph's algorithms beside those of analysis/graph, on one graph in one run: where the ratio is near 1
// we use Boost's, elsewhere our own.
//
// The random graph is made to resemble a heap: three quarters of the edges lead to nearby nodes (what was
// made together lies together), the rest anywhere; most nodes have few targets, some very many; a tenth is
// unreachable. Both read the same compressed rows. Each takes the best of five rounds, in turn. Prints a line
// for each algorithm: CPU seconds of Boost's, of ours, and the ratio.

#include "analysis/graph/components.h"
#include "analysis/graph/csr.h"
#include "analysis/graph/preorder.h"
#include "analysis/graph/search.h"
#include "analysis/graph/shortest_paths.h"
#include "tests/benchmarks/cpu_time.h"

#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace heapsift;
using View = BoostView<Adjacency>;
constexpr std::uint32_t most_cost = 20;

Adjacency heap_like(std::uint32_t nodes) {
    std::mt19937 engine(20261123);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    std::vector<std::uint64_t> begin{0};
    std::vector<NodeId> targets;
    const std::uint32_t held = nodes - nodes / 10;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        std::uint32_t count = random() % 5;
        if (random() % 1000 == 0) count = 500 + random() % 1000;
        if (node == 0) count = 5000;  // the roots
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t near = node + random() % 64;
            targets.push_back(NodeId(node != 0 && random() % 4 != 0 && near < held ? near : random() % held));
        }
        begin.push_back(targets.size());
    }
    return {std::move(begin), std::move(targets)};
}

std::uint32_t step(std::uint32_t source, std::uint32_t target) {
    constexpr std::uint32_t costs[] = {0, 1, 1, 1, 2, 1, 4, most_cost};
    return costs[(source * 31 + target * 17) & 7];
}

/// The cost of a step, in the form that Boost wants.
struct StepCosts {
    using key_type = View::edge_descriptor;
    using value_type = std::uint32_t;
    using reference = value_type;
    using category = boost::readable_property_map_tag;
    friend std::uint32_t get(const StepCosts&, const key_type& edge) {
        return step(edge.source, *edge.target);
    }
};

template <class T>
auto by_node(std::vector<T>& values) {
    return boost::make_iterator_property_map(values.begin(), boost::identity_property_map());
}

std::size_t search_by_boost(const Adjacency& graph) {
    std::vector<bool> seen(graph.node_count());
    SearchStack stack;
    search(
        graph, NodeId(0), [&](NodeId node) { return seen[node]; },
        [&](std::uint32_t node) { seen[node] = true; }, stack);
    return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

std::size_t search_by_hand(const Adjacency& graph) {
    std::vector<bool> seen(graph.node_count());
    std::vector<NodeId> pending{NodeId(0)};
    seen[0] = true;
    while (!pending.empty()) {
        const NodeId source = pending.back();
        pending.pop_back();
        for (const NodeId target : graph.targets(source)) {
            if (seen[target]) continue;
            seen[target] = true;
            pending.push_back(target);
        }
    }
    return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

std::size_t components_by_boost(const Adjacency& graph) {
    std::vector<std::uint32_t> component(graph.node_count());
    return boost::strong_components(View(graph), by_node(component));
}

std::size_t components_by_us(const Adjacency& graph) {
    return strong_components(graph, [](std::uint32_t) { return true; }).count;
}

struct Numbering : boost::default_dfs_visitor {
    std::vector<NodeId>* order;
    void discover_vertex(NodeId node, const View&) const { order->push_back(node); }
};

std::size_t preorder_by_boost(const Adjacency& graph) {
    std::vector<NodeId> order;
    std::vector<boost::default_color_type> colours(graph.node_count(), boost::white_color);
    Numbering numbering;
    numbering.order = &order;
    boost::depth_first_visit(View(graph), NodeId(0), numbering, by_node(colours));
    return order.size();
}

std::size_t preorder_by_us(const Adjacency& graph) {
    Preorder order(graph.node_count());
    order.walk(graph, NodeId(0));
    return order.reached();
}

std::size_t paths_by_boost(const Adjacency& graph) {
    std::vector<std::uint32_t> cost(graph.node_count());
    std::vector<NodeId> previous(graph.node_count());
    boost::dijkstra_shortest_paths(
        View(graph), NodeId(0),
        boost::weight_map(StepCosts()).distance_map(by_node(cost)).predecessor_map(by_node(previous)));
    std::size_t sum = 0;
    for (const std::uint32_t value : cost)
        sum += value == std::numeric_limits<std::uint32_t>::max() ? 0 : value;
    return sum;
}

std::size_t paths_by_us(const Adjacency& graph) {
    PathForest forest(graph.node_count());
    PathSearch<most_cost> search(forest);
    search.offer(NodeId(0), no_node, 0);
    search.run([&](NodeId node) {
        for (const NodeId target : graph.targets(node))
            if (!search.is_settled(target))
                search.offer(target, node, forest.cost[node] + step(node, target));
        return true;
    });
    std::size_t sum = 0;
    for (const NodeId node : forest.previous.ids()) {
        const std::uint32_t value = forest.cost[node];
        sum += value == PathForest::none ? 0 : value;
    }
    return sum;
}

struct Pair {
    const char* name;
    std::size_t (*by_boost)(const Adjacency&);
    std::size_t (*by_us)(const Adjacency&);
};

}  // namespace

int main(int argc, char** argv) {
    const long nodes = argc > 1 ? std::atol(argv[1]) : 3000000;
    if (argc > 2 || nodes < 10000 || nodes > 100000000) {
        std::fputs("usage: benchmark-graph [NODES, from 10000]\n", stderr);
        return 2;
    }
    const Adjacency graph = heap_like(static_cast<std::uint32_t>(nodes));
    std::printf("%zu nodes, %zu edges\n", graph.node_count(), static_cast<std::size_t>(graph.edge_count()));
    std::printf("%-20s %8s %8s %8s\n", "", "Boost", "ours", "ratio");
    bool equal = true;
    for (const Pair& pair : {Pair{"search", search_by_boost, search_by_hand},
                             Pair{"strong components", components_by_boost, components_by_us},
                             Pair{"preorder", preorder_by_boost, preorder_by_us},
                             Pair{"shortest paths", paths_by_boost, paths_by_us}}) {
        double boost_seconds = 1e9, our_seconds = 1e9;
        for (int round = 0; round < 5; ++round) {
            const double start = cpu_seconds();
            const std::size_t theirs = pair.by_boost(graph);
            const double middle = cpu_seconds();
            const std::size_t own = pair.by_us(graph);
            our_seconds = std::min(our_seconds, cpu_seconds() - middle);
            boost_seconds = std::min(boost_seconds, middle - start);
            equal = equal && theirs == own;
        }
        std::printf("%-20s %8.3f %8.3f %8.2f\n", pair.name, boost_seconds, our_seconds,
                    boost_seconds / our_seconds);
    }
    if (!equal) std::fputs("benchmark-graph: the answers differ\n", stderr);
    return equal ? 0 : 1;
}
