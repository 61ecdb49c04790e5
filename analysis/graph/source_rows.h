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
//
// To turn edges round one by one would miss the cache for each of them a second time, and be one thread's work. So it is a
// radix sort in two steps: the edges of some sources are put by the part of the memory that their targets' rows are in;
// then each such part, which fits into a processor's cache, takes what all sources have for it. Either step is done by
// pieces, on any thread.

#include "analysis/graph/preorder.h"
#include "parsers/base/in_pieces.h"
#include "parsers/base/ranked_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    /// works, 4 more bytes per edge, and n*n / 2^29 for n nodes.
    template <TargetsGraph Graph>
    static SourceRows build(const Graph& graph, const Preorder& preorder);

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
    /// Sources of a piece, and rows of a part: a number of either has 16 bits.
    static constexpr std::size_t nodes_a_piece = 1 << 16;

    struct Edge {  // by position
        std::uint32_t source, target;
    };
    /// The edges of a piece of the sources: each as source * 2^16 + target, as counted in its piece and its part.
    struct Sorted {
        std::vector<std::uint32_t> edges;  // part by part; those of a part by source
        std::vector<std::uint64_t> begin;  // by part: where its edges begin; and the end of the last one's
    };
    /// A piece while it is sorted.
    struct Piece {
        std::vector<Edge> found;
        Sorted sorted;
        std::vector<std::uint32_t> inner;  // those of its sources that lead to another node; they ascend
    };
    /// The rows of a part.
    struct Part {
        std::vector<std::uint32_t> sources;
        std::vector<std::uint64_t> end;  // by row: behind its sources
    };

    /// Finds each edge that stays of the sources [from, to), which ascend, and which of these are inner ones.
    template <TargetsGraph Graph>
    static void find_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from, std::uint32_t to,
                           Piece& piece);
    static void sort(Piece& piece, std::size_t parts);
    static void turn_round(std::span<const Sorted> sorted, std::size_t part, std::size_t rows, Part& result);
    void take(Part& part);

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
void SourceRows::find_edges(const Graph& graph, const Preorder& preorder, std::uint32_t from,
                            std::uint32_t to, Piece& piece) {
    constexpr std::uint32_t rows_ahead = 16;
    constexpr std::size_t batch = 512;
    struct Candidate {
        NodeId source_node, target_node;
        std::uint32_t source, target;
    };
    std::array<Candidate, batch> edges;
    std::size_t filled = 0;
    piece.found.clear();
    piece.inner.clear();
    const auto flush = [&] {
        const std::span<Candidate> those(edges.data(), filled);
        for (Candidate& edge : those) {
            edge.target = preorder.position(edge.target_node);
            if (edge.target != Preorder::none) preorder.fetch_parent(edge.target);
        }
        for (const Candidate& edge : those) {
            if (edge.target == Preorder::none || edge.target == edge.source) continue;
            const bool is_parent = preorder.parent(edge.target) == edge.source;
            if (!is_parent &&
                !edge_counts(graph, edge.source_node, edge.source, edge.target_node, edge.target))
                continue;
            if (piece.inner.empty() || piece.inner.back() != edge.source) piece.inner.push_back(edge.source);
            if (!is_parent) piece.found.push_back({edge.source, edge.target});
        }
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

template <TargetsGraph Graph>
SourceRows SourceRows::build(const Graph& graph, const Preorder& preorder) {
    const std::size_t count = preorder.reached(), pieces = piece_count(count, nodes_a_piece);
    SourceRows rows;
    rows.inner_ = RankedSet(count);
    std::vector<Sorted> sorted(pieces);
    std::uint64_t edges = 0;
    in_pieces<Piece>(
        pieces,
        [&](std::size_t number, Piece& piece) {
            const auto [begin, end] = piece_of(number, count, nodes_a_piece);
            find_edges(graph, preorder, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                       piece);
            sort(piece, pieces);
        },
        [&](std::size_t number, Piece& piece) {
            edges += piece.found.size();
            for (const std::uint32_t source : piece.inner) rows.inner_.add(source);
            sorted[number] = std::exchange(piece.sorted, {});
        });
    rows.inner_.finish();
    rows.lengths_.reserve(count);
    rows.sources_.reserve(edges + 2 * ahead);
    rows.sources_.assign(ahead, 0);
    in_pieces<Part>(
        pieces,
        [&](std::size_t part, Part& result) {
            const auto [begin, end] = piece_of(part, count, nodes_a_piece);
            turn_round(sorted, part, end - begin, result);
        },
        [&](std::size_t, Part& part) { rows.take(part); });
    rows.sources_.insert(rows.sources_.end(), ahead, 0);
    return rows;
}

}  // namespace heapsift
