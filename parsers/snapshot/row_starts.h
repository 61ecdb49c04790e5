#pragma once

// Where the rows of a column begin that lie one after the other: in 4 bytes a row, not 8.
//
// Only all rows together have more than 2^32 entries. So a start is kept as its distance from the start of the
// first row of its block of 4096; the starts of the blocks are few, and stay in the cache.

#include "parsers/base/error.h"
#include "parsers/base/stored.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

/// Ascending starts; usually one more than there are rows.
class RowStarts {
public:
    RowStarts() = default;

    std::size_t size() const { return distances_.size(); }
    bool empty() const { return distances_.empty(); }
    std::uint64_t operator[](std::size_t row) const { return bases_[row >> block_bits] + distances_[row]; }
    /// Prefetches what operator[] will read.
    void fetch(std::size_t row) const { __builtin_prefetch(&distances_[row]); }
    std::uint64_t memory_bytes() const { return bases_.memory_bytes() + distances_.memory_bytes(); }

    /// The last row from `from` on that begins at `place` or before. `from` does; cheap if the row is near.
    std::size_t row_of(std::uint64_t place, std::size_t from) const {
        std::size_t step = 1;
        while (from + step < size() && (*this)[from + step] <= place) {
            from += step;
            step *= 2;
        }
        for (; step > 0; step /= 2)
            if (from + step < size() && (*this)[from + step] <= place) from += step;
        return from;
    }

    /// As a part of an index (parsers/index/part.h): `count` starts from 0 on, up to `last`.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t count, std::uint64_t last) {
        part.column(self.bases_, [&](const std::uint64_t& base, std::size_t at) {
            return base <= last && (at == 0 ? base == 0 : *(&base - 1) <= base);
        });
        part.require(self.bases_.size() == (count + block - 1) / block, "a block of rows has no start");
        part.column(self.distances_, [&](const std::uint32_t& distance, std::size_t row) {
            const std::uint64_t start = self.bases_[row >> block_bits] + distance;
            if (row % block == 0) return distance == 0;
            return *(&distance - 1) <= distance && start <= last &&
                   (row % block != block - 1 || row + 1 == count ||
                    start <= self.bases_[(row + 1) >> block_bits]);
        });
        part.require(self.distances_.size() == count && (count == 0 || self[count - 1] == last),
                     "the rows do not end where their entries do");
    }

private:
    friend class RowStartsBuilder;
    static constexpr unsigned block_bits = 12;
    static constexpr std::size_t block = std::size_t{1} << block_bits;

    Stored<std::uint64_t> bases_;      // by block
    Stored<std::uint32_t> distances_;  // by row
};

/// Fills RowStarts, row by row.
class RowStartsBuilder {
public:
    void reserve(std::size_t rows) {
        distances_.reserve(rows);
        bases_.reserve(rows / RowStarts::block + 1);
    }
    std::size_t size() const { return distances_.size(); }
    /// Not less than the one before. Throws `Error` ("too-large") if 4096 rows have 2^32 entries.
    void push_back(std::uint64_t start) {
        if (distances_.size() % RowStarts::block == 0) bases_.push_back(start);
        const std::uint64_t distance = start - bases_.back();
        if (distance > 0xffffffff)
            throw cannot_analyse("too-large", "a few objects have more than 2^32 references");
        distances_.push_back(static_cast<std::uint32_t>(distance));
    }
    /// Replaces each start by moved(start), in order; the distances must not grow.
    template <class F>
    void move_all(F&& moved) {
        for (std::size_t row = 0; row < distances_.size(); ++row) {
            std::uint64_t& base = bases_[row >> RowStarts::block_bits];
            if (row % RowStarts::block == 0) old_base_ = std::exchange(base, moved(base));
            distances_[row] = static_cast<std::uint32_t>(moved(old_base_ + distances_[row]) - base);
        }
    }
    RowStarts finish() {
        RowStarts starts;
        starts.bases_ = std::move(bases_);
        starts.distances_ = std::move(distances_);
        return starts;
    }

private:
    std::vector<std::uint64_t> bases_;
    std::vector<std::uint32_t> distances_;
    std::uint64_t old_base_ = 0;
};

}  // namespace heapsift
