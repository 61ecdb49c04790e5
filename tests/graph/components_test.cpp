// Strongly connected components, compared with Boost's algorithm, and on shapes that break recursive code.

#include "analysis/graph/components.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace heapsift;
using namespace heapsift::test;

namespace {

bool everything(std::uint32_t) { return true; }

/// For each node, the lowest node of its component, so that two numberings can be compared.
template <class Numbers>
std::vector<std::uint32_t> by_least(const Numbers& numbers) {
    std::map<std::uint32_t, std::uint32_t> least;
    std::vector<std::uint32_t> result;
    for (std::uint32_t node = 0; node < numbers.size(); ++node)
        result.push_back(least.emplace(static_cast<std::uint32_t>(numbers[node]), node).first->second);
    return result;
}

std::vector<std::uint32_t> of_boost(std::uint32_t nodes, const Edges& edges) {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
    const Graph graph(edges.begin(), edges.end(), nodes);
    std::vector<int> found(nodes);
    boost::strong_components(
        graph, boost::make_iterator_property_map(found.begin(), boost::get(boost::vertex_index, graph)));
    return by_least(found);
}

/// What the contract of Components promises besides the partition.
bool numbers_are_right(const Adjacency& graph, const Components& components) {
    std::set<std::uint32_t> numbers;
    for (NodeId node(0); node < graph.node_count(); ++node) {
        numbers.insert(components.of_node[node]);
        for (const NodeId target : graph.targets(node))
            if (components.of_node[node] < components.of_node[target]) return false;
    }
    return numbers.size() == components.count &&
           (numbers.empty() || *numbers.rbegin() + 1 == components.count);
}

}  // namespace

TEST_CASE("components: a thousand random graphs, against Boost", "[graph][components]") {
    std::mt19937 random(20261121);
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % 60);
        Edges edges;
        for (std::uint32_t e = static_cast<std::uint32_t>(random() % (3 * nodes)); e > 0; --e)
            edges.emplace_back(random() % nodes, random() % nodes);
        const Adjacency graph = graph_of(nodes, edges);
        const Components found = strong_components(graph, everything);
        REQUIRE(by_least(found.of_node.values()) == of_boost(nodes, edges));
        REQUIRE(numbers_are_right(graph, found));
    }
}

TEST_CASE("components: of a part of a graph, as if the rest were not there", "[graph][components]") {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % 40);
        Edges edges, inside;
        std::vector<bool> in(nodes);
        for (NodeId node(0); node < nodes; ++node) in[node] = random() % 3 != 0;
        for (std::uint32_t e = 0; e < 3 * nodes; ++e) {
            edges.emplace_back(random() % nodes, random() % nodes);
            if (in[edges.back().first] && in[edges.back().second]) inside.push_back(edges.back());
        }
        const Components found =
            strong_components(graph_of(nodes, edges), [&](NodeId node) { return in[node]; });
        const std::vector<std::uint32_t> least = by_least(found.of_node.values()),
                                         expected = of_boost(nodes, inside);
        for (NodeId node(0); node < nodes; ++node) {
            REQUIRE((found.of_node[node] == Components::none) != in[node]);
            if (in[node]) REQUIRE(least[node] == expected[node]);
        }
    }
}

TEST_CASE("components: a chain, a ring, a star and a ladder of a million nodes", "[graph][components]") {
    constexpr std::uint32_t n = 1000000;
    Edges edges;
    std::uint32_t expected = 1;
    SECTION("a chain: each alone") {
        for (std::uint32_t i = 1; i < n; ++i) edges.emplace_back(i - 1, i);
        expected = n;
    }
    SECTION("a ring") {
        for (std::uint32_t i = 0; i < n; ++i) edges.emplace_back(i, (i + 1) % n);
    }
    SECTION("a ring against the order of its numbers") {
        for (std::uint32_t i = 0; i < n; ++i) edges.emplace_back((i + 1) % n, i);
    }
    SECTION("a star whose points refer back") {
        for (std::uint32_t i = 1; i < n; ++i) {
            edges.emplace_back(0, i);
            edges.emplace_back(i, 0);
        }
    }
    SECTION("a star whose points do not") {
        for (std::uint32_t i = 1; i < n; ++i) edges.emplace_back(0, i);
        expected = n;
    }
    SECTION("a ladder: its rungs are pairs") {
        for (std::uint32_t i = 0; i < n; i += 2) {
            edges.emplace_back(i, i + 1);
            edges.emplace_back(i + 1, i);
            if (i + 2 == n) break;
            edges.emplace_back(i, i + 2);
            edges.emplace_back(i + 1, i + 3);
        }
        expected = n / 2;
    }
    const Adjacency graph = graph_of(n, edges);
    const Components found = strong_components(graph, everything);
    CHECK(found.count == expected);
    CHECK(std::none_of(found.of_node.begin(), found.of_node.end(),
                       [](std::uint32_t c) { return c == Components::none; }));
    bool downhill = true;
    for (const auto& [source, target] : edges)
        downhill = downhill && found.of_node[NodeId(source)] >= found.of_node[NodeId(target)];
    CHECK(downhill);
}
