#pragma once

// A set of numbers below a bound, and of each how many of the set are below it: what is known of some things
// only can then stand in a column without gaps. Two bits for each number below the bound.

#include "parsers/base/stored.h"

#include <cstddef>
#include <cstdint>

namespace heapsift {

/// First `add`, as often as needed; then `finish`, once; then the rest. Of less than 2^32 numbers.
class RankedSet {
public:
    explicit RankedSet(std::size_t bound = 0) : words_(std::vector<Word>(words_for(bound))) {}
    RankedSet(RankedSet&&) = default;
    RankedSet& operator=(RankedSet&&) = default;

    void add(std::size_t number) { words_.fill()[number / 32].bits |= std::uint32_t{1} << (number % 32); }
    void finish() {
        std::uint32_t before = 0;
        for (Word& word : words_.fill()) {
            word.before = before;
            before += bit_count(word.bits);
        }
    }

    /// How many there are.
    std::uint32_t count() const {
        return words_.empty() ? 0
                              : words_[words_.size() - 1].before + bit_count(words_[words_.size() - 1].bits);
    }
    bool has(std::size_t number) const { return words_[number / 32].bits >> (number % 32) & 1; }
    /// How many of them are below `number`: for a number of the set, its place.
    std::uint32_t rank(std::size_t number) const {
        const Word& word = words_[number / 32];
        return word.before + bit_count(word.bits & ((std::uint32_t{1} << (number % 32)) - 1));
    }
    std::uint64_t memory_bytes() const { return words_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), of numbers below `bound`.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t bound) {
        std::uint32_t before = 0;
        part.column(self.words_, [&](const Word& word) {
            const bool follows = word.before == before;
            before += bit_count(word.bits);
            return follows;
        });
        part.require(self.words_.size() == words_for(bound), "a set of numbers has another bound");
    }

private:
    struct Word {
        std::uint32_t bits = 0, before = 0;
    };
    static std::size_t words_for(std::size_t bound) { return bound / 32 + (bound % 32 != 0); }
    /// std::popcount; on processors that may lack the instruction that is a call of a function.
    static std::uint32_t bit_count(std::uint32_t bits) {
        bits -= bits >> 1 & 0x55555555;
        bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
        bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
        return bits * 0x01010101 >> 24;
    }

    Stored<Word> words_;
};

}  // namespace heapsift
