// Cheapest paths, compared with the rounds of Bellman and Ford over all edges.

#include "analysis/graph/shortest_paths.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint32_t most = 20, none = PathForest::none;

/// Expensive steps among cheap ones, and some that cost nothing, as in a heap.
std::uint32_t step(std::uint32_t source, std::uint32_t target) {
    constexpr std::uint32_t costs[] = {0, 1, 1, 1, 2, 4, most};
    return costs[(source * 31 + target * 17) % 7];
}

using Starts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // node and cost

PathForest forest_of(const Adjacency& graph, const Starts& starts, std::uint32_t last = none) {
    PathForest forest(graph.node_count());
    PathSearch<most> search(forest);
    for (const auto& [node, cost] : starts) search.offer(NodeId(node), no_node, cost);
    search.run([&](NodeId node) {
        for (const NodeId target : graph.targets(node))
            if (!search.is_settled(target))
                search.offer(target, node, forest.cost[node] + step(node, target));
        return node != last;
    });
    return forest;
}

std::vector<std::uint32_t> slow_costs(const Adjacency& graph, const Starts& starts) {
    std::vector<std::uint32_t> costs(graph.node_count(), none);
    for (const auto& [node, cost] : starts) costs[node] = std::min(costs[node], cost);
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId node(0); node < graph.node_count(); ++node)
            for (const NodeId target : graph.targets(node))
                if (costs[node] != none && costs[node] + step(node, target) < costs[target]) {
                    costs[target] = costs[node] + step(node, target);
                    changed = true;
                }
    }
    return costs;
}

}  // namespace

TEST_CASE("shortest paths: costs are the least, on a thousand random graphs, and paths add up to them",
          "[graph][paths]") {
    std::mt19937 random(20261123);
    for (int i = 0; i < 1000; ++i) {
        const auto nodes = 1 + static_cast<std::uint32_t>(random() % 40);
        const Adjacency graph =
            graph_of(nodes, random_edges(random, nodes, static_cast<std::uint32_t>(random() % (4 * nodes))));
        Starts starts;
        for (std::uint32_t s = 0; s < 1 + random() % 3; ++s)
            starts.emplace_back(random() % nodes, random() % (most + 1));
        const PathForest forest = forest_of(graph, starts);
        const std::vector<std::uint32_t> costs = slow_costs(graph, starts);
        for (std::uint32_t node = 0; node < nodes; ++node) REQUIRE(forest.cost[node] == costs[node]);
        std::vector<std::uint32_t> place(nodes, none);
        for (std::uint32_t p = 0; p < forest.settled.size(); ++p) place[forest.settled[p]] = p;
        for (NodeId node(0); node < nodes; ++node) {
            REQUIRE((place[node] == none) == (forest.cost[node] == none));
            const NodeId previous = forest.previous[node];
            if (previous == no_node) continue;
            REQUIRE(forest.cost[node] == forest.cost[previous] + step(previous, node));
            REQUIRE(place[previous] < place[node]);
        }
    }
}

TEST_CASE("shortest paths: a search that is ended has the costs of all that it settled", "[graph][paths]") {
    const Adjacency graph = graph_of(1000, chain(1000));
    const PathForest forest = forest_of(graph, {{0, 3}}, 10);
    CHECK(forest.settled.size() == 11);
    CHECK(forest.cost[NodeId(10)] == slow_costs(graph, {{0, 3}})[10]);
    CHECK(forest.cost[NodeId(12)] == none);
}

TEST_CASE("shortest paths: of two paths that cost the same the first that was offered stays",
          "[graph][paths]") {
    PathForest forest(3);
    PathSearch<most> search(forest);
    CHECK(search.offer(NodeId(2), no_node, 5));
    CHECK_FALSE(search.offer(NodeId(2), NodeId(0), 5));
    CHECK(search.offer(NodeId(2), NodeId(1), 4));
    CHECK_FALSE(search.is_settled(NodeId(2)));
    search.run([](std::uint32_t) { return true; });
    CHECK(search.is_settled(NodeId(2)));
    CHECK(forest.previous[NodeId(2)] == NodeId(1));
    CHECK(forest.settled == std::vector<NodeId>{NodeId(2)});
}

TEST_CASE("shortest paths: a million nodes that wait are settled in the order in which they were offered",
          "[graph][paths]") {
    constexpr std::uint32_t n = 1000001, half = n / 2;
    for (const std::uint32_t cost : {0U, 1U, most}) {
        PathForest forest(n);
        PathSearch<most> search(forest);
        search.offer(NodeId(0), no_node, 0);
        search.run([&](NodeId node) {
            // The second half is offered while the first is settled, behind it in the same queue or in another.
            for (std::uint32_t target = 1; node == 0 && target <= half; ++target)
                search.offer(NodeId(target), node, 7);
            if (node > 0 && node <= half) search.offer(NodeId(node + half), node, 7 + cost);
            return true;
        });
        REQUIRE(forest.settled.size() == n);
        for (std::uint32_t node = 0; node < n; ++node) REQUIRE(forest.settled[node] == node);
        CHECK(forest.cost[NodeId(half)] == 7);
        CHECK(forest.cost[NodeId(n - 1)] == 7 + cost);
        CHECK(forest.previous[NodeId(n - 1)] == half);
    }
}

TEST_CASE("shortest paths: a chain, a ring and a star of a million nodes", "[graph][paths]") {
    constexpr std::uint32_t n = 1000000;
    for (const Edges& edges : {chain(n), ring(n), star(n)}) {
        const PathForest forest = forest_of(graph_of(n, edges), {{0, 0}});
        CHECK(forest.settled.size() == n);
    }
    const PathForest along = forest_of(graph_of(n, chain(n)), {{0, 0}});
    CHECK(along.previous[NodeId(n - 1)] == n - 2);
    std::uint64_t cost = 0;
    for (std::uint32_t node = 1; node < n; ++node) cost += step(node - 1, node);
    CHECK(along.cost[NodeId(n - 1)] == cost);
}

TEST_CASE("shortest paths: what need not wait has the path that it has otherwise, and is not settled",
          "[graph][paths]") {
    const std::uint32_t n = 300;
    std::mt19937 random(7);
    const Adjacency graph = graph_of(n, random_edges(random, n, n + n / 2));
    const Starts starts = {{0, 2}, {5, 0}, {17, 4}};
    const PathForest usual = forest_of(graph, starts);
    PathForest forest(n, false);
    PathSearch<most> search(forest);
    const auto waits = [&](NodeId node) { return !graph.targets(node).empty(); };
    for (const auto& [node, cost] : starts) search.offer(NodeId(node), no_node, cost, waits(NodeId(node)));
    std::size_t settled = 0;
    search.run([&](NodeId node) {
        REQUIRE(waits(node));
        ++settled;
        for (const NodeId target : graph.targets(node))
            if (!search.is_settled(target))
                search.offer(target, node, forest.cost[node] + step(node, target), waits(target));
        return true;
    });
    CHECK(forest.settled.empty());
    std::size_t leaves = 0;
    for (NodeId node{0}; node < n; ++node) {
        CHECK(forest.cost[node] == usual.cost[node]);
        CHECK(forest.previous[node] == usual.previous[node]);
        leaves += usual.cost[node] != none && !waits(node);
    }
    CHECK(leaves > 10);
    CHECK(settled + leaves == usual.settled.size());
}
