// The rows of edges by position, compared with the edges themselves.

#include "analysis/graph/source_rows.h"
#include "parsers/base/in_pieces.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <algorithm>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using Rows = std::vector<std::vector<std::uint32_t>>;  // by position

Rows rows_by_definition(const Adjacency& graph, const Preorder& order) {
    Rows rows(order.reached());
    for (std::uint32_t p = 0; p < order.reached(); ++p)
        for (const NodeId target : graph.targets(order.node_at(p))) {
            const std::uint32_t at = order.position(target);
            if (at != p && order.parent(at) != p) rows[at].push_back(p);
        }
    return rows;
}

std::vector<std::uint32_t> copy_of(std::span<const std::uint32_t> row) { return {row.begin(), row.end()}; }

void check_rows(const Adjacency& graph, const Preorder& order, const SourceRows& rows) {
    const Rows expected = rows_by_definition(graph, order);
    REQUIRE(rows.row_count() == expected.size());
    std::uint64_t edges = 0;
    for (const auto& row : expected) edges += row.size();
    REQUIRE(rows.edge_count() == edges);
    Rows up, down;
    std::uint64_t fetched = 0;
    const auto fetch = [&](std::uint32_t source) { fetched += source < order.reached(); };
    rows.visit_up(
        [&](std::uint32_t p, auto row) {
            REQUIRE(p == up.size());
            up.push_back(copy_of(row));
        },
        fetch);
    down.resize(expected.size());
    std::uint32_t last = static_cast<std::uint32_t>(expected.size());
    rows.visit_down(
        [&](std::uint32_t p, auto row) {
            REQUIRE(p < last);
            REQUIRE(!row.empty());
            down[last = p] = copy_of(row);
        },
        fetch);
    REQUIRE(up == expected);
    REQUIRE(down == expected);
    REQUIRE(fetched == 2 * edges);
    Rows by_pieces(expected.size());
    for (std::size_t first = 0; first < expected.size(); first += SourceRows::rows_a_mark)
        rows.visit_up(
            first, std::min(first + SourceRows::rows_a_mark, expected.size()),
            [&](std::uint32_t p, auto row) { by_pieces[p] = copy_of(row); }, [](std::uint32_t) {});
    REQUIRE(by_pieces == expected);
}

void check_rows(const Adjacency& graph) {
    Preorder order(graph.node_count());
    order.walk(graph, NodeId(0));
    check_rows(graph, order, SourceRows::build(graph, order));
}

}  // namespace

TEST_CASE("source rows: a thousand random graphs, with more edges than are kept in between and fewer",
          "[graph][rows]") {
    std::mt19937 random(20261123);
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % 60);
        check_rows(
            graph_of(nodes, random_edges(random, nodes, static_cast<std::uint32_t>(random() % (8 * nodes)))));
    }
}

TEST_CASE("source rows: rows whose length needs more than a byte, one after another and alone",
          "[graph][rows]") {
    constexpr std::uint32_t nodes = 3000;
    Edges edges;
    for (std::uint32_t n = 1; n < nodes; ++n) edges.emplace_back(n - 1, n);
    for (const std::uint32_t target : {3U, 4U, 5U, 900U, nodes - 1})
        for (std::uint32_t n = 0; n < 253 + target % 7; ++n) edges.emplace_back((n * 7 + 11) % nodes, target);
    check_rows(graph_of(nodes, edges));
}

TEST_CASE("source rows: one node, and a graph without edges", "[graph][rows]") {
    check_rows(graph_of(1, {}));
    check_rows(graph_of(1, {{0, 0}, {0, 0}}));
    check_rows(graph_of(9, {}));
}

TEST_CASE("source rows: of many pieces, by several threads", "[graph][rows]") {
    std::mt19937 random(20261124);
    constexpr std::uint32_t nodes = 200'000;  // three pieces and a bit
    for (const std::uint32_t edges : {nodes / 2, 3 * nodes}) {
        Edges all = chain(nodes);
        const Edges others = random_edges(random, nodes, edges);
        all.insert(all.end(), others.begin(), others.end());
        for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
            set_threads(count);
            check_rows(graph_of(nodes, all));
        }
        set_threads(1);
    }
}
