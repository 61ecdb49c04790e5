#pragma once

// Which words of C code's blocks lead to blocks: found once, for the passes that go along them.
//
// Most of C code's memory is no pointers, and to look up a word takes as long as to read ten. A bit for each word says
// whether it is worth it.

#include "parsers/snapshot/row_starts.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace heapsift {

/// First `add_block` for each block, by number, each with `mark` for its words; then `finish`, once; then `visit`. A bit for each
/// word, and some 2 bytes for each block.
class BlockWords {
public:
    /// The next block has so many words; none is marked.
    void add_block(std::size_t words) {
        first_ = words_;
        words_ += words;
        starts_builder_.push_back(words_);
        bits_.resize(words_ / 64 + 1);
    }
    /// The word `index` of the block that was added last.
    void mark(std::size_t index) { bits_[(first_ + index) / 64] |= bit(first_ + index); }
    void finish() { starts_ = starts_builder_.finish(); }

    /// How many blocks there are.
    std::size_t size() const { return starts_builder_.size(); }
    /// visit(index, word) for each marked word of a block of these `bytes`, in ascending order.
    template <class F>
    void visit(std::uint32_t number, std::span<const std::byte> bytes, F&& visit) const {
        const std::uint64_t first = number == 0 ? 0 : starts_[number - 1], end = starts_[number];
        for (std::uint64_t at = first; at < end; at = (at / 64 + 1) * 64) {
            std::uint64_t left = bits_[at / 64] & ~(bit(at) - 1);
            if (end / 64 == at / 64) left &= bit(end) - 1;
            for (; left != 0; left &= left - 1) {
                const std::uint64_t index =
                    at / 64 * 64 + static_cast<unsigned>(std::countr_zero(left)) - first;
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + 8 * index, 8);
                visit(index, word);
            }
        }
    }

private:
    static std::uint64_t bit(std::uint64_t word) { return std::uint64_t{1} << (word % 64); }

    RowStartsBuilder starts_builder_;
    RowStarts starts_;  // by number of a block: behind its last word
    std::vector<std::uint64_t> bits_;
    std::uint64_t words_ = 0, first_ = 0;
};

}  // namespace heapsift
