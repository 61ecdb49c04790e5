// Dominators, compared with Boost's algorithm and with the definition itself, and on shapes that break
// recursive code.

#include "analysis/graph/dominators.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <algorithm>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

Preorder preorder_of(const Adjacency& graph) {
    Preorder order(graph.node_count());
    order.walk(graph, NodeId(0));
    return order;
}

/// For each node, its immediate dominator; `none` for the root and for unreachable nodes.
std::vector<std::uint32_t> dominators_of(const Adjacency& graph) {
    const Preorder order = preorder_of(graph);
    const DominatorTree tree = DominatorTree::build(graph, order);
    std::vector<std::uint32_t> result(graph.node_count(), DominatorTree::none);
    for (std::uint32_t p = 1; p < tree.reached(); ++p)
        result[order.node_at(p)] = order.node_at(tree.dominator(p));
    return result;
}

std::vector<bool> reached_without(const Adjacency& graph, std::uint32_t left_out);

/// Boost's algorithm is given only what the root reaches: edges from elsewhere make it err.
std::vector<std::uint32_t> boost_dominators(std::uint32_t nodes, Edges edges) {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
    const std::vector<bool> reached = reached_without(graph_of(nodes, edges), DominatorTree::none);
    std::erase_if(edges, [&](const auto& edge) { return !reached[edge.first]; });
    const Graph graph(edges.begin(), edges.end(), nodes);
    std::vector<std::size_t> found(nodes, Graph::null_vertex());
    boost::lengauer_tarjan_dominator_tree(
        graph, boost::vertex(0, graph),
        boost::make_iterator_property_map(found.begin(), boost::get(boost::vertex_index, graph)));
    std::vector<std::uint32_t> result;
    for (const std::size_t dominator : found)
        result.push_back(dominator == Graph::null_vertex() ? DominatorTree::none
                                                           : static_cast<std::uint32_t>(dominator));
    return result;
}

std::vector<bool> reached_without(const Adjacency& graph, std::uint32_t left_out) {
    std::vector<bool> reached(graph.node_count());
    std::vector<std::uint32_t> todo;
    auto enter = [&](std::uint32_t node) {
        if (node == left_out || reached[node]) return;
        reached[node] = true;
        todo.push_back(node);
    };
    enter(0);
    while (!todo.empty()) {
        const NodeId node(todo.back());
        todo.pop_back();
        for (const NodeId target : graph.targets(node)) enter(target);
    }
    return reached;
}

/// The definition: a node dominates what is no longer reached without it.
bool tree_is_right(const Adjacency& graph) {
    const std::vector<std::uint32_t> dominators = dominators_of(graph);
    const std::vector<bool> reached = reached_without(graph, DominatorTree::none);
    for (std::uint32_t taken = 0; taken < graph.node_count(); ++taken) {
        if (!reached[taken]) continue;
        const std::vector<bool> still = reached_without(graph, taken);
        for (NodeId node(0); node < graph.node_count(); ++node) {
            if (!reached[node]) continue;
            bool dominated = false;
            for (std::uint32_t at = node; at != DominatorTree::none && !dominated; at = dominators[at])
                dominated = at == taken;
            if (dominated == still[node]) return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("dominators: a thousand random graphs, against the definition and against Boost",
          "[graph][dominators]") {
    std::mt19937 random(20261121);
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % 40);
        const Edges edges = random_edges(random, nodes, static_cast<std::uint32_t>(random() % (3 * nodes)));
        const Adjacency graph = graph_of(nodes, edges);
        REQUIRE(tree_is_right(graph));
        REQUIRE(dominators_of(graph) == boost_dominators(nodes, edges));
    }
}

TEST_CASE("dominators: larger random graphs, against Boost", "[graph][dominators]") {
    std::mt19937 random(7);
    for (const std::uint32_t a_node : {1U, 2U, 3U, 8U}) {
        const std::uint32_t nodes = 3000;
        Edges edges = random_edges(random, nodes, a_node * nodes);
        for (std::uint32_t n = 1; n < nodes; n += 3)
            edges.emplace_back(random() % n, n);  // so that much is reached
        CHECK(dominators_of(graph_of(nodes, edges)) == boost_dominators(nodes, edges));
    }
}

TEST_CASE("dominators: a chain, a ring, a star and a ladder of a million nodes", "[graph][dominators]") {
    constexpr std::uint32_t n = 1000000;
    Edges edges;
    SECTION("a chain: each is dominated by the one before") {
        for (std::uint32_t i = 1; i < n; ++i) edges.emplace_back(i - 1, i);
        const auto found = dominators_of(graph_of(n, edges));
        CHECK(found[1] == 0);
        CHECK(found[n - 1] == n - 2);
        const Adjacency graph = graph_of(n, edges);
        const Preorder order = preorder_of(graph);
        const DominatorTree tree = DominatorTree::build(graph, order);
        std::vector<std::uint64_t> sums(n, 1);
        tree.add_up(sums);
        CHECK(sums[0] == n);
        CHECK(sums[order.position(NodeId(n - 10))] == 10);
    }
    SECTION("a ring, entered at one place, with links both ways: the root dominates it through that place") {
        edges.emplace_back(0, 1);
        for (std::uint32_t i = 1; i < n; ++i) {
            const std::uint32_t next = i + 1 < n ? i + 1 : 1;
            edges.emplace_back(i, next);
            edges.emplace_back(next, i);
        }
        const auto found = dominators_of(graph_of(n, edges));
        CHECK(found[1] == 0);
        CHECK(std::all_of(found.begin() + 2, found.end(), [](std::uint32_t d) { return d == 1; }));
    }
    SECTION("a star whose points refer back") {
        for (std::uint32_t i = 1; i < n; ++i) {
            edges.emplace_back(0, i);
            edges.emplace_back(i, 0);
        }
        const auto found = dominators_of(graph_of(n, edges));
        CHECK(std::all_of(found.begin() + 1, found.end(), [](std::uint32_t d) { return d == 0; }));
    }
    SECTION("a ladder: from each rung one can go up on either side") {
        for (std::uint32_t i = 0; i < n; i += 2) {
            edges.emplace_back(i, i + 1);
            edges.emplace_back(i + 1, i);
            if (i + 2 == n) break;
            edges.emplace_back(i, i + 2);
            edges.emplace_back(i + 1, i + 3);
        }
        const auto found = dominators_of(graph_of(n, edges));
        CHECK(found[1] == 0);
        CHECK(std::all_of(found.begin() + 2, found.end(), [](std::uint32_t d) { return d == 0; }));
    }
}

TEST_CASE("dominators: what the root does not reach has no place in the tree", "[graph][dominators]") {
    const Adjacency graph = graph_of(5, {{0, 1}, {2, 1}, {2, 3}, {3, 2}, {4, 0}});
    const Preorder order = preorder_of(graph);
    const DominatorTree tree = DominatorTree::build(graph, order);
    CHECK(tree.reached() == 2);
    CHECK(order.position(NodeId(2)) == DominatorTree::none);
    CHECK(tree.dominator(0) == DominatorTree::none);
    CHECK(order.node_at(tree.dominator(order.position(NodeId(1)))) == 0);
}
