// Where the time of `heapsift types` goes: each pass that finds the objects, and the pass that sizes them.
// Besides: the cost of the references, the graph made of them, its dominators, retained sizes, and the
// replayed collector.
//
// With --boost it also runs Boost.Graph's lengauer_tarjan_dominator_tree on the same graph, which must find
// the same dominator for every node. There ours are timed once more, alone: from the edges, as Boost's are,
// with the walk that numbers the nodes. Boost's takes 650 bytes a node, and recurses: it is for heaps of a
// million objects without long chains.
//
// The builder tells the name of each pass as it begins (as for the terminal's progress line); the CPU time
// between two names belongs to the first. Prints a line for each pass, then the number of objects.

#include "analysis/collector.h"
#include "analysis/graph/csr.h"
#include "analysis/holding/retained.h"
#include "analysis/types.h"
#include "parsers/base/error.h"
#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/reference_graph.h"
#include "tests/benchmarks/cpu_time.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace heapsift;

/// The bytes of this process's own memory; resident pages of the core's file do not count.
double anonymous_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kilobytes = 0; word == "RssAnon:" && status >> kilobytes) return kilobytes * 1024;
    return 0;
}

using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

/// What keeps what alive; a node is its position in the graph's preorder.
Adjacency followed_edges(const HeapGraph& graph) {
    const Preorder& preorder = graph.preorder();
    std::vector<std::uint64_t> begin{0};
    std::vector<NodeId> targets;
    for (std::uint32_t p = 0; p < preorder.reached(); ++p) {
        const NodeId node = preorder.node_at(p);
        for (const NodeId target : graph.targets(node))
            if (preorder.position(target) != Preorder::none && graph.follows(node, target))
                targets.push_back(NodeId(preorder.position(target)));
        begin.push_back(targets.size());
    }
    return {std::move(begin), std::move(targets)};
}

BoostGraph boost_graph(const Adjacency& edges) {
    BoostGraph boosted(edges.node_count());
    for (std::uint32_t p = 0; p < edges.node_count(); ++p)
        for (const NodeId target : edges.targets(NodeId(p))) boost::add_edge(p, target, boosted);
    return boosted;
}

std::vector<std::size_t> boost_dominators(const BoostGraph& boosted) {
    std::vector<std::size_t> found(boost::num_vertices(boosted), BoostGraph::null_vertex());
    boost::lengauer_tarjan_dominator_tree(
        boosted, boost::vertex(0, boosted),
        boost::make_iterator_property_map(found.begin(), boost::get(boost::vertex_index, boosted)));
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    const bool with_boost = argc == 3 && std::string_view(argv[2]) == "--boost";
    if (argc != 2 && !with_boost) {
        std::fputs("usage: benchmark-passes CORE [--boost]\n", stderr);
        return 2;
    }
    std::vector<std::pair<std::string, double>> passes{{"core file", cpu_seconds()}};
    auto mark = [&](std::string_view pass, double) {
        if (passes.back().first != pass) passes.emplace_back(pass, cpu_seconds());
    };
    try {
        Diagnostics diagnostics;
        const CoreHeap heap =
            CoreHeap::open(CoreFile::open(argv[1], {}, diagnostics),
                           {.sizes = true, .references = true, .roots = true}, diagnostics, mark);
        mark("adding up types", 0);
        const TypesResult result = types(heap, SortKey::memory, 0);
        const ReferenceGraph& references = *heap.snapshot().references;
        const double bytes_before = anonymous_bytes();
        mark("graph", 0);
        const HeapGraph graph(heap);
        const double graph_bytes = anonymous_bytes() - bytes_before;
        mark("dominators and retained", 0);
        const RetainedSizes sizes = retained_sizes(graph);
        const RetainedLookup retained(graph, sizes);
        const double retained_bytes = anonymous_bytes() - bytes_before - graph_bytes;
        mark("collector", 0);
        const Collection collection = replay_collector(heap);
        bool equal = true;
        if (with_boost) {
            mark("followed edges", 0);
            const Adjacency edges = followed_edges(graph);
            mark("dominators alone", 0);
            Preorder order(edges.node_count());
            order.walk(edges, NodeId(0));
            const DominatorTree alone = DominatorTree::build(edges, order);
            mark("graph for Boost", 0);
            const BoostGraph boosted = boost_graph(edges);
            mark("dominators by Boost", 0);
            const std::vector<std::size_t> expected = boost_dominators(boosted);
            mark("comparing", 0);
            equal = alone.reached() == expected.size();
            for (std::uint32_t p = 1; p < graph.preorder().reached(); ++p)
                equal = equal && expected[p] == graph.preorder().position(
                                                    retained.dominator(graph.preorder().node_at(p)));
        }
        mark("end", 0);
        for (std::size_t i = 0; i + 1 < passes.size(); ++i)
            std::printf("%s\t%.6f\n", passes[i].first.c_str(), passes[i + 1].second - passes[i].second);
        std::printf("objects\t%zu\n", heap.snapshot().object_count());
        std::printf("edges\t%zu\n", static_cast<std::size_t>(references.reference_count()));
        std::printf("edge bytes\t%zu\n", static_cast<std::size_t>(references.memory_bytes()));
        std::printf("graph bytes\t%.0f\n", graph_bytes);
        std::printf("retained bytes\t%.0f\n", retained_bytes);
        std::printf("garbage found\t%zu\n", static_cast<std::size_t>(collection.collectable.count));
        if (with_boost)
            std::printf("nodes with %s dominators\t%zu\n", equal ? "equal" : "OTHER",
                        graph.preorder().reached());
        return result.total_count == heap.snapshot().object_count() && equal ? 0 : 1;
    } catch (const Error& error) {
        std::fprintf(stderr, "benchmark-passes: %s\n", error.message().c_str());
        return 1;
    }
}
