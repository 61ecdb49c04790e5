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
#include "parsers/base/in_pieces.h"
#include "parsers/base/ranked_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// The lengths of rows that lie one after the other: a byte each, and 8 more for a long one.
class RowLengths {
public:
    /// At each so many rows what all before them have together is noted.
    static constexpr std::size_t rows_a_mark = 1 << 14;

    void reserve(std::size_t rows) { short_.reserve(rows); }
    void add(std::uint64_t length) {
        if (short_.size() % rows_a_mark == 0) marks_.push_back({total_, long_.size()});
        total_ += length;
        short_.push_back(static_cast<std::uint8_t>(std::min<std::uint64_t>(length, long_row)));
        if (length >= long_row) long_.push_back(length);
    }
    std::size_t size() const { return short_.size(); }

    /// What all rows before `first`, a multiple of `rows_a_mark`, have together.
    std::uint64_t before(std::size_t first) const {
        return first < short_.size() ? mark(first).total : total_;
    }
    /// visit(row, its length), from the first to the last; `visit_down`: of those that are not empty, from the last to the
    /// first.
    template <class F>
    void visit_up(F&& visit) const {
        visit_up(0, short_.size(), visit);
    }
    /// The same from `first`, a multiple of `rows_a_mark`, up to `end`.
    template <class F>
    void visit_up(std::size_t first, std::size_t end, F&& visit) const {
        if (first >= end) return;
        auto next_long = long_.begin() + static_cast<std::ptrdiff_t>(mark(first).long_rows);
        for (std::size_t row = first; row < end; ++row)
            visit(static_cast<std::uint32_t>(row), short_[row] == long_row ? *next_long++ : short_[row]);
    }
    template <class F>
    void visit_down(F&& visit) const {
        auto next_long = long_.end();
        for (std::size_t row = short_.size(); row > 0;) {
            if (row % 8 == 0 && are_empty(row - 8)) {
                row -= 8;
            } else if (const std::uint8_t length = short_[--row]; length > 0) {
                visit(static_cast<std::uint32_t>(row), length == long_row ? *--next_long : length);
            }
        }
    }

private:
    static constexpr std::uint8_t long_row = 0xff;
    struct Mark {  // what is before it
        std::uint64_t total, long_rows;
    };
    bool are_empty(std::size_t eight_rows) const {
        std::uint64_t lengths = 0;
        std::memcpy(&lengths, &short_[eight_rows], sizeof lengths);
        return lengths == 0;
    }
    const Mark& mark(std::size_t row) const { return marks_[row / rows_a_mark]; }

    std::vector<std::uint8_t> short_;
    std::vector<std::uint64_t> long_;  // in order
    std::vector<Mark> marks_;          // by rows_a_mark
    std::uint64_t total_ = 0;
};

/// Refers to nothing. 4 bytes per edge and 1.25 per node. Left out: an edge from a node to itself, and the edge
/// from each node's parent, which the preorder knows. (Another edge from the parent is left out with it.)
class SourceRows {
public:
    /// Of the nodes that `preorder` met. Some 35 ns per node of a heap, 60 in one that has aged; while it
    /// works, 9 more bytes per node.
    template <TargetsGraph Graph>
    static SourceRows build(const Graph& graph, const Preorder& preorder) {
        SourceRows rows;
        if (!rows.fill<std::uint32_t>(graph, preorder)) rows.fill<std::uint64_t>(graph, preorder);
        return rows;
    }
    /// `Offset`: holds the number of edges, else it returns false and is to be filled anew.
    template <class Offset, TargetsGraph Graph>
    bool fill(const Graph& graph, const Preorder& preorder);

    /// The nodes that lead to another one, by position: the parents, and the sources of the rows. The others,
    /// about half of a heap, keep nothing alive, and whoever asks what comes from where may leave them out.
    const RankedSet& inner() const { return inner_; }
    std::size_t row_count() const { return lengths_.size(); }
    std::uint64_t edge_count() const { return sources_.size() - 2 * ahead; }

    /// row(position, sources) for each position from the first to the last; the sources ascend. Some edges
    /// before, `fetch(source)` is called for each, to prefetch what `row` will look at.
    template <class Row, class Fetch>
    void visit_up(Row row, Fetch fetch) const {
        visit_up(0, row_count(), row, fetch);
    }
    /// The same of [first, end), where `first` is a multiple of `rows_a_mark`: by pieces, on several threads.
    template <class Row, class Fetch>
    void visit_up(std::size_t first, std::size_t end, Row row, Fetch fetch) const;
    static constexpr std::size_t rows_a_mark = RowLengths::rows_a_mark;
    /// The same of all rows that are not empty, from the last to the first.
    template <class Row, class Fetch>
    void visit_down(Row row, Fetch fetch) const;

private:
    static constexpr std::size_t ahead = 32;
    static constexpr std::size_t nodes_a_piece = 1 << 14;

    struct Edge {  // by position
        std::uint32_t source, target;
    };
    /// Adds each edge that stays of the sources [from, to), which ascend.
    template <TargetsGraph Graph>
    static void add_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from, std::uint32_t to,
                          std::vector<Edge>& added);

    std::vector<std::uint32_t> sources_;  // row by row, between `ahead` zeros on both sides
    RowLengths lengths_;                  // by position
    RankedSet inner_;
};

template <class Row, class Fetch>
void SourceRows::visit_up(std::size_t first, std::size_t end, Row row, Fetch fetch) const {
    const std::uint32_t* at = sources_.data() + ahead + lengths_.before(first);
    lengths_.visit_up(first, end, [&](std::uint32_t p, std::uint64_t length) {
        for (std::uint64_t i = 0; i < length; ++i) fetch(at[i + ahead]);
        row(p, std::span<const std::uint32_t>(at, length));
        at += length;
    });
}

template <class Row, class Fetch>
void SourceRows::visit_down(Row row, Fetch fetch) const {
    const std::uint32_t* at = sources_.data() + sources_.size() - ahead;
    lengths_.visit_down([&](std::uint32_t p, std::uint64_t length) {
        at -= length;
        for (std::uint64_t i = length; i-- > 0;) fetch(*(at + i - ahead));
        row(p, std::span<const std::uint32_t>(at, length));
    });
}

// Each step that misses the cache is begun some time before its result is used: where a row begins, the row,
// the positions of its targets, and what is known of these. The last two are done for a batch of edges.
template <TargetsGraph Graph>
void SourceRows::add_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from, std::uint32_t to,
                           std::vector<Edge>& added) {
    constexpr std::uint32_t rows_ahead = 16;
    constexpr std::size_t batch = 512;
    struct Candidate {
        NodeId source_node, target_node;
        std::uint32_t source, target;
    };
    std::array<Candidate, batch> edges;
    std::size_t filled = 0;
    const auto flush = [&] {
        const std::span<Candidate> those(edges.data(), filled);
        for (Candidate& edge : those) {
            edge.target = preorder.position(edge.target_node);
            if (edge.target != Preorder::none) preorder.fetch_parent(edge.target);
        }
        for (const Candidate& edge : those)
            if (edge.target != Preorder::none && edge.target != edge.source &&
                preorder.parent(edge.target) != edge.source &&
                edge_counts(graph, edge.source_node, edge.source, edge.target_node, edge.target))
                added.push_back({edge.source, edge.target});
        filled = 0;
    };
    for (std::uint32_t p = from; p < to; ++p) {
        if (to - p > 2 * rows_ahead) fetch_row(graph, preorder.node_at(p + 2 * rows_ahead));
        if (to - p > rows_ahead) graph.targets(preorder.node_at(p + rows_ahead)).fetch();
        const NodeId node = preorder.node_at(p);
        for (const NodeId target : graph.targets(node)) {
            preorder.fetch_position(target);
            edges[filled++] = {node, target, p, Preorder::none};
            if (filled == batch) flush();
        }
    }
    flush();
}

// Edges are found by pieces, on any thread; what they change is changed in the order of sources: counted,
// then filled in from the start of each row. As many edges as there are nodes are kept from the first to the
// second time; to keep all of them might take more memory than whoever uses the rows.
template <class Offset, TargetsGraph Graph>
bool SourceRows::fill(const Graph& graph, const Preorder& preorder) {
    const std::size_t count = preorder.reached(), pieces = piece_count(count, nodes_a_piece);
    const auto for_each_piece = [&](std::size_t first, auto&& take) {
        in_pieces<std::vector<Edge>>(
            pieces - first,
            [&](std::size_t piece, std::vector<Edge>& edges) {
                const auto [begin, end] = piece_of(first + piece, count, nodes_a_piece);
                edges.clear();
                add_edges(graph, preorder, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                          edges);
            },
            [&](std::size_t piece, const std::vector<Edge>& edges) { take(first + piece, edges); });
    };
    std::vector<Offset> next(count, 0);
    std::vector<std::uint32_t> kept;  // targets, by source
    RowLengths kept_lengths;
    kept.reserve(count);
    kept_lengths.reserve(count);
    const auto keep = [&](std::size_t piece, const std::vector<Edge>& edges) {
        auto edge = edges.begin();
        const auto [begin, end] = piece_of(piece, count, nodes_a_piece);
        for (std::size_t source = begin; source < end; ++source) {
            const std::size_t before = kept.size();
            for (; edge != edges.end() && edge->source == source; ++edge) kept.push_back(edge->target);
            kept_lengths.add(kept.size() - before);
        }
    };
    inner_ = RankedSet(count);
    const std::span<const std::uint32_t> parents = preorder.parents();
    for (std::size_t p = 1; p < count; ++p)
        if (parents[p] != parents[p - 1]) inner_.add(parents[p]);
    std::uint64_t edge_count = 0;
    std::size_t pieces_kept = 0;
    for_each_piece(0, [&](std::size_t piece, const std::vector<Edge>& edges) {
        edge_count += edges.size();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (i + ahead < edges.size()) __builtin_prefetch(&next[edges[i + ahead].target], 1);
            ++next[edges[i].target];
            inner_.add(edges[i].source);
        }
        if (pieces_kept < piece || kept.size() + edges.size() > count) return;
        keep(piece, edges);
        ++pieces_kept;
    });
    if (edge_count + ahead > std::numeric_limits<Offset>::max()) return false;
    inner_.finish();
    lengths_.reserve(count);
    std::uint64_t first = ahead;
    for (Offset& at : next) {
        lengths_.add(at);
        first += std::exchange(at, static_cast<Offset>(first));
    }
    sources_.resize(first + ahead);
    const auto place = [&](std::uint32_t source, std::uint32_t target) { sources_[next[target]++] = source; };
    std::size_t at = 0;
    kept_lengths.visit_up([&](std::uint32_t source, std::uint64_t length) {
        for (const std::size_t end = at + length; at < end; ++at) {
            if (at + ahead < kept.size()) __builtin_prefetch(&next[kept[at + ahead]], 1);
            place(source, kept[at]);
        }
    });
    for_each_piece(pieces_kept, [&](std::size_t, const std::vector<Edge>& edges) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (i + ahead < edges.size()) __builtin_prefetch(&next[edges[i + ahead].target], 1);
            place(edges[i].source, edges[i].target);
        }
    });
    return true;
}

}  // namespace heapsift
