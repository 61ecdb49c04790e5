// What holds several nodes together: the nearest node without which the root reaches none of them, compared
// with separate walks up the tree.

#include "analysis/graph/common_dominator.h"

#include "tests/catch.h"
#include "tests/graph/random_graph.h"

#include <algorithm>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// `node`, its dominator, and so on up to the root.
std::vector<std::uint32_t> line_up(const DominatorTree& tree, const Preorder& order, NodeId node) {
    std::vector<std::uint32_t> line;
    for (std::uint32_t p = order.position(node); p != Preorder::none; p = tree.dominator(p))
        line.push_back(order.node_at(p));
    return line;
}

}  // namespace

TEST_CASE("common dominator: the first that the lines of all members share, set after set",
          "[graph][dominators]") {
    std::mt19937 random(20261123);
    for (int i = 0; i < 200; ++i) {
        const auto nodes = 2 + static_cast<std::uint32_t>(random() % 40);
        const Adjacency graph = graph_of(nodes, random_edges(random, nodes, 2 * nodes));
        Preorder order(nodes);
        order.walk(graph, NodeId(0));
        const DominatorTree tree = DominatorTree::build(graph, order);
        CommonDominatorFinder common(tree, order);
        for (int set = 0; set < 20; ++set) {
            std::vector<NodeId> members;
            while (members.size() < 2 + random() % 4) members.push_back(NodeId(random() % nodes));
            std::vector<std::uint32_t> shared;
            bool any = false;
            for (const NodeId member : members) {
                const std::vector<std::uint32_t> line = line_up(tree, order, member);
                if (line.empty()) continue;
                if (!any) shared = line;
                std::erase_if(shared, [&](std::uint32_t node) {
                    return std::find(line.begin(), line.end(), node) == line.end();
                });
                any = true;
            }
            const std::optional<NodeId> found = common.of(members);
            REQUIRE(found.has_value() == any);
            if (any) REQUIRE(*found == shared.front());
        }
    }
}

TEST_CASE("common dominator: of one member it is its own dominator, of the root's there is none",
          "[graph][dominators]") {
    const Adjacency graph = graph_of(4, {{0, 1}, {1, 2}});
    Preorder order(4);
    order.walk(graph, NodeId(0));
    const DominatorTree tree = DominatorTree::build(graph, order);
    CommonDominatorFinder common(tree, order);
    CHECK(common.of(std::vector<NodeId>{NodeId(2)}) == NodeId(1));
    CHECK(common.of(std::vector<NodeId>{NodeId(0)}) == no_node);
    CHECK(common.of(std::vector<NodeId>{NodeId(3)}) == no_node);
    CHECK(common.of(std::vector<NodeId>{NodeId(3), NodeId(3)}) == std::nullopt);
}

TEST_CASE("common dominator: of both ends of a chain of a million nodes it is the upper one",
          "[graph][dominators]") {
    constexpr std::uint32_t n = 1000000;
    const Adjacency graph = graph_of(n, chain(n));
    Preorder order(n);
    order.walk(graph, NodeId(0));
    const DominatorTree tree = DominatorTree::build(graph, order);
    CommonDominatorFinder common(tree, order);
    for (std::uint32_t again = 0; again < 3; ++again)
        CHECK(common.of(std::vector<NodeId>{NodeId(n - 1), NodeId(10 + again)}) == NodeId(10 + again));
}
