#pragma once

// Of a long column of words, the last one before a place that is not 0.
//
// The bits of a malloc heap have a word for each KiB. Whoever asks in which block an address lies looks back for the
// block's start, and where a program gave hundreds of megabytes back, or holds them in one block, that is hundreds of
// thousands of words of zeros, for each address that is asked for. So a bit for each word says whether it is not 0, and
// a bit for each of those words again: 256 MiB of such memory are 64 words to look at.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

class NonzeroWords {
public:
    NonzeroWords() = default;
    /// Cost: a look at each word. Memory: a bit for each.
    explicit NonzeroWords(std::span<const std::uint64_t> words)
        : by_word_(summary_of(words)), by_64_(summary_of(by_word_)) {}

    /// The number of the last word below `word` that is not 0, of those that it was made of. None: nothing.
    std::optional<std::size_t> last_below(std::size_t word) const {
        if (const auto near = last_bit_below(by_word_, word, word / 64 * 64)) return near;
        const auto far = last_bit_below(by_64_, word / 64, 0);
        return far ? last_bit_below(by_word_, *far * 64 + 64, *far * 64) : std::nullopt;
    }

private:
    using Bits = std::vector<std::uint64_t>;

    static Bits summary_of(std::span<const std::uint64_t> words) {
        Bits bits(words.size() / 64 + 1);
        for (std::size_t i = 0; i < words.size(); ++i)
            bits[i / 64] |= std::uint64_t{words[i] != 0} << (i % 64);
        return bits;
    }

    /// The last bit of [first, below) that is set; `first` is a multiple of 64.
    static std::optional<std::size_t> last_bit_below(const Bits& bits, std::size_t below, std::size_t first) {
        for (std::size_t end = below; end > first; end = (end - 1) / 64 * 64) {
            const std::size_t at = (end - 1) / 64;
            const std::uint64_t found = bits[at] & (~std::uint64_t{0} >> (63 - (end - 1) % 64));
            if (found != 0) return at * 64 + 63 - static_cast<std::size_t>(std::countl_zero(found));
        }
        return std::nullopt;
    }

    Bits by_word_, by_64_;
};

}  // namespace heapsift
