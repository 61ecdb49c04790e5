#pragma once

// The edges of a graph by position in a preorder: for each node, the positions of those that refer to it.
//
// The problem: a heap's references lie by object, and neighbours in the graph lie anywhere: each edge costs
// several cache misses, for its row, for the position of its target, for whether it is followed. Whoever goes
// over all edges in preorder pays them each time.
//
// The idea: pay once, many at a time, and keep what is needed: compressed rows in the order of positions.
// Both users, dominators and the walks of sets, read them from one end to the other; so a row needs no
// pointer, its length is enough, and what comes next can be prefetched.

#include "analysis/graph/preorder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// Refers to nothing. 4 bytes per edge and 1 per node. Left out: an edge from a node to itself, and the edge
/// from each node's parent, which the preorder knows. (Another edge from the parent is left out with it.)
class SourceRows {
public:
    /// Of the nodes that `preorder` met. Some 35 ns per node of a heap, 60 in one that has aged; while it
    /// works, 16 more bytes per node.
    template <TargetsGraph Graph>
    static SourceRows build(const Graph& graph, const Preorder& preorder);

    std::size_t row_count() const { return lengths_.size(); }
    std::uint64_t edge_count() const { return sources_.size() - 2 * ahead; }

    /// row(position, sources) for each position from the first to the last; the sources ascend. Some edges
    /// before, `fetch(source)` is called for each, to prefetch what `row` will look at.
    template <class Row, class Fetch>
    void visit_up(Row row, Fetch fetch) const;
    /// The same from the last to the first.
    template <class Row, class Fetch>
    void visit_down(Row row, Fetch fetch) const;

private:
    static constexpr std::size_t ahead = 32;
    static constexpr std::uint8_t long_row = 0xff;

    /// visit(source, target), by position, for each edge that stays, from source `from` on: sources ascend.
    /// `fetch(target)` is called some time before.
    template <TargetsGraph Graph, class Visit, class Fetch>
    static void visit_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from, Visit visit,
                            Fetch fetch);

    std::vector<std::uint32_t> sources_;  // row by row, between `ahead` zeros on both sides
    std::vector<std::uint8_t> lengths_;   // by position
    std::vector<std::uint64_t> long_;     // the lengths of long rows, in order
};

template <class Row, class Fetch>
void SourceRows::visit_up(Row row, Fetch fetch) const {
    const std::uint32_t* at = sources_.data() + ahead;
    auto next_long = long_.begin();
    for (std::uint32_t p = 0; p < lengths_.size(); ++p) {
        const std::uint64_t length = lengths_[p] == long_row ? *next_long++ : lengths_[p];
        for (std::uint64_t i = 0; i < length; ++i) fetch(at[i + ahead]);
        row(p, std::span<const std::uint32_t>(at, length));
        at += length;
    }
}

template <class Row, class Fetch>
void SourceRows::visit_down(Row row, Fetch fetch) const {
    const std::uint32_t* at = sources_.data() + sources_.size() - ahead;
    auto next_long = long_.end();
    for (auto p = static_cast<std::uint32_t>(lengths_.size()); p-- > 0;) {
        const std::uint64_t length = lengths_[p] == long_row ? *--next_long : lengths_[p];
        at -= length;
        for (std::uint64_t i = length; i-- > 0;) fetch(*(at + i - ahead));
        row(p, std::span<const std::uint32_t>(at, length));
    }
}

// Each step that misses the cache is begun some time before its result is used: where a row begins, the row,
// the positions of its targets, and what is known of these. The last two are done for a batch of edges.
template <TargetsGraph Graph, class Visit, class Fetch>
void SourceRows::visit_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from, Visit visit,
                             Fetch fetch) {
    constexpr std::uint32_t rows_ahead = 16;
    constexpr std::size_t batch = 512;
    struct Edge {
        NodeId source_node, target_node;
        std::uint32_t source, target;
    };
    std::array<Edge, batch> edges;
    std::size_t filled = 0;
    const auto flush = [&] {
        const std::span<Edge> those(edges.data(), filled);
        for (Edge& edge : those) {
            edge.target = preorder.position(edge.target_node);
            if (edge.target == Preorder::none) continue;
            preorder.fetch_parent(edge.target);
            fetch(edge.target);
        }
        for (const Edge& edge : those)
            if (edge.target != Preorder::none && edge.target != edge.source &&
                preorder.parent(edge.target) != edge.source &&
                edge_counts(graph, edge.source_node, edge.source, edge.target_node, edge.target))
                visit(edge.source, edge.target);
        filled = 0;
    };
    const auto count = static_cast<std::uint32_t>(preorder.reached());
    for (std::uint32_t p = from; p < count; ++p) {
        if (count - p > 2 * rows_ahead) fetch_row(graph, preorder.node_at(p + 2 * rows_ahead));
        if (count - p > rows_ahead) graph.targets(preorder.node_at(p + rows_ahead)).fetch();
        const NodeId node = preorder.node_at(p);
        for (const NodeId target : graph.targets(node)) {
            preorder.fetch_position(target);
            edges[filled++] = {node, target, p, Preorder::none};
            if (filled == batch) flush();
        }
    }
    flush();
}

template <TargetsGraph Graph>
SourceRows SourceRows::build(const Graph& graph, const Preorder& preorder) {
    const std::size_t count = preorder.reached();
    SourceRows rows;
    // Counted, then filled in from the start of each row. As many edges as there are nodes are kept from the
    // first to the second time; to keep all of them might take more memory than whoever uses the rows.
    struct Edge {
        std::uint32_t source, target;
    };
    std::vector<Edge> kept;
    kept.reserve(count);
    std::vector<std::uint64_t> next(count, 0);
    const auto fetch = [&](std::uint32_t target) { __builtin_prefetch(&next[target], 1); };
    std::uint32_t not_kept = static_cast<std::uint32_t>(count);
    visit_edges(
        graph, preorder, 0,
        [&](std::uint32_t source, std::uint32_t target) {
            ++next[target];
            if (kept.size() < count)
                kept.push_back({source, target});
            else
                not_kept = std::min(not_kept, source);
        },
        fetch);
    // From there on all edges come again.
    while (!kept.empty() && kept.back().source >= not_kept) kept.pop_back();
    rows.lengths_.resize(count);
    std::uint64_t first = ahead;
    for (std::size_t p = 0; p < count; ++p) {
        const std::uint64_t length = std::exchange(next[p], first);
        first += length;
        rows.lengths_[p] = static_cast<std::uint8_t>(std::min<std::uint64_t>(length, long_row));
        if (length >= long_row) rows.long_.push_back(length);
    }
    rows.sources_.resize(first + ahead);
    const auto place = [&](std::uint32_t source, std::uint32_t target) {
        rows.sources_[next[target]++] = source;
    };
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (i + ahead < kept.size()) fetch(kept[i + ahead].target);
        place(kept[i].source, kept[i].target);
    }
    if (not_kept < count) visit_edges(graph, preorder, not_kept, place, fetch);
    return rows;
}

}  // namespace heapsift
