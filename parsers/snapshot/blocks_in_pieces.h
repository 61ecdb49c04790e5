#pragma once

// A pass over all blocks, on several processors, with the same result for any number of them (in_pieces.h). Blocks are found
// one after the other: so some thousands are put down, and then these are shared out.

#include "parsers/base/in_pieces.h"
#include "parsers/memory/block_numbers.h"

#include <cstddef>
#include <vector>

namespace heapsift {

/// work(block, result) for each block that `is_wanted`, on any thread; then take(result) for some blocks at a time, in the
/// order of their numbers, which leaves the result empty.
template <class Result, class IsWanted, class Work, class Take>
void blocks_in_pieces(const BlockNumbers& numbers, IsWanted&& is_wanted, Work&& work, Take&& take) {
    constexpr std::size_t blocks_a_piece = 1 << 12, pieces = 16;
    std::vector<BlockNumbers::Block> some;
    const auto do_some = [&] {
        in_pieces<Result>(
            piece_count(some.size(), blocks_a_piece),
            [&](std::size_t piece, Result& result) {
                const auto [begin, end] = piece_of(piece, some.size(), blocks_a_piece);
                for (std::size_t i = begin; i < end; ++i) work(some[i], result);
            },
            [&](std::size_t, Result& result) { take(result); });
        some.clear();
    };
    numbers.visit([&](const BlockNumbers::Block& block) {
        if (!is_wanted(block)) return;
        some.push_back(block);
        if (some.size() == blocks_a_piece * pieces) do_some();
    });
    do_some();
}

}  // namespace heapsift
