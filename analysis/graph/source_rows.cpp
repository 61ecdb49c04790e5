#include "analysis/graph/source_rows.h"

namespace heapsift {
namespace {

constexpr unsigned bits_of_number = 16;
constexpr std::uint32_t number_mask = (std::uint32_t{1} << bits_of_number) - 1;

}  // namespace

/// A counting sort by part.
void SourceRows::sort(Piece& piece, std::size_t parts) {
    static_assert(nodes_a_piece == std::size_t{1} << bits_of_number);
    const std::vector<Edge>& found = piece.found;
    std::vector<std::uint64_t>& begin = piece.sorted.begin;
    // At first where the edges of the part before begin: those behind them push it on.
    begin.assign(parts + 1, 0);
    for (const Edge& edge : found) ++begin[(edge.target >> bits_of_number) + 1];
    std::uint64_t before = 0;
    for (std::size_t part = 1; part <= parts; ++part) before += std::exchange(begin[part], before);
    piece.sorted.edges.resize(found.size());
    for (const Edge& edge : found)
        piece.sorted.edges[begin[(edge.target >> bits_of_number) + 1]++] =
            edge.source << bits_of_number | (edge.target & number_mask);
}

void SourceRows::turn_round(std::span<const Sorted> sorted, std::size_t part, std::size_t rows,
                            Part& result) {
    const auto visit = [&](auto&& each) {
        for (std::size_t piece = 0; piece < sorted.size(); ++piece) {
            const Sorted& some = sorted[piece];
            const auto first = static_cast<std::uint32_t>(piece << bits_of_number);
            for (std::uint64_t at = some.begin[part]; at < some.begin[part + 1]; ++at)
                each(some.edges[at] & number_mask, first + (some.edges[at] >> bits_of_number));
        }
    };
    result.end.assign(rows, 0);
    visit([&](std::uint32_t row, std::uint32_t) { ++result.end[row]; });
    std::uint64_t before = 0;
    for (std::uint64_t& end : result.end) before += std::exchange(end, before);
    result.sources.resize(before);
    // Where the next source goes; in the end that is behind the last one.
    visit([&](std::uint32_t row, std::uint32_t source) { result.sources[result.end[row]++] = source; });
}

void SourceRows::take(Part& part) {
    std::uint64_t begin = 0;
    for (const std::uint64_t end : part.end) lengths_.add(end - std::exchange(begin, end));
    move_to_end(part.sources, sources_);
}

}  // namespace heapsift
