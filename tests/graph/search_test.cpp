// Searches through Boost.Graph's view of a graph, compared with a slow obvious one; and what the view
// promises.

#include "analysis/graph/search.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<BoostView<Adjacency>>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<BoostView<FilteredGraph>>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<BoostView<FilteredGraph>>));

namespace {

template <class Graph>
std::vector<bool> found(const Graph& graph, NodeId start, std::vector<bool> marked) {
    SearchStack stack;
    search(
        graph, start, [&](std::uint32_t node) { return marked[node]; },
        [&](std::uint32_t node) { marked[node] = true; }, stack);
    CHECK(stack.empty());
    return marked;
}

/// Goes through all edges until nothing changes.
template <class Graph>
std::vector<bool> slowly(const Graph& graph, NodeId start, const std::vector<bool>& marked) {
    std::vector<bool> reached(graph.node_count());
    reached[start] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId node(0); node < graph.node_count(); ++node)
            for (const NodeId target : graph.targets(node))
                if (reached[node] && !reached[target] && !marked[target] && edge_counts(graph, node, target))
                    changed = reached[target] = true;
    }
    for (NodeId node(0); node < graph.node_count(); ++node)
        if (marked[node]) reached[node] = true;
    return reached;
}

}  // namespace

TEST_CASE("search: marks what a node reaches, on a thousand random graphs", "[graph][search]") {
    std::mt19937 random(20261123);
    for (int i = 0; i < 1000; ++i) {
        const auto nodes = 1 + static_cast<std::uint32_t>(random() % 40);
        const FilteredGraph graph(
            graph_of(nodes, random_edges(random, nodes, static_cast<std::uint32_t>(random() % (3 * nodes)))),
            4);
        std::vector<bool> marked(nodes);
        for (NodeId node(0); node < nodes; ++node) marked[node] = random() % 5 == 0;
        const NodeId start(random() % nodes);
        REQUIRE(found(graph, start, marked) == slowly(graph, start, marked));
    }
}

TEST_CASE("search: a chain, a ring and a star of a million nodes are reached to the end", "[graph][search]") {
    constexpr std::uint32_t n = 1000000;
    for (const Edges& edges : {chain(n), ring(n), star(n)}) {
        const std::vector<bool> reached = found(graph_of(n, edges), NodeId(0), std::vector<bool>(n));
        CHECK(std::count(reached.begin(), reached.end(), true) == n);
    }
    const std::vector<bool> from_the_middle =
        found(graph_of(n, chain(n)), NodeId(n / 2), std::vector<bool>(n));
    CHECK(std::count(from_the_middle.begin(), from_the_middle.end(), true) == n / 2);
}

TEST_CASE("boost view: has the edges that count, as often as they are there", "[graph]") {
    const FilteredGraph graph(graph_of(4, {{0, 1}, {0, 0}, {0, 1}, {0, 2}, {3, 0}}), 7);
    // (0 * 7 + target * 13) % 7 == 0 for target 0 alone.
    const BoostView<FilteredGraph> view(graph);
    CHECK(num_vertices(view) == 4);
    CHECK(out_degree(NodeId(0), view) == 3);
    std::vector<std::uint32_t> targets;
    for (auto [at, end] = out_edges(NodeId(0), view); at != end; ++at) {
        CHECK(source(*at, view) == 0);
        targets.push_back(target(*at, view));
    }
    CHECK(targets == std::vector<std::uint32_t>{1, 1, 2});
    CHECK(out_degree(NodeId(1), view) == 0);
    CHECK(out_degree(NodeId(3), view) == 0);
    const auto [first, last] = vertices(view);
    CHECK(std::vector<std::uint32_t>(first, last) == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("boost view: Boost's components run on it as it is", "[graph]") {
    const Adjacency graph = graph_of(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}});
    std::vector<int> component(5);
    CHECK(boost::strong_components(
              BoostView<Adjacency>(graph),
              boost::make_iterator_property_map(component.begin(), boost::identity_property_map())) == 3);
    CHECK(component[0] == component[2]);
    CHECK(component[3] != component[4]);
}
