#pragma once

// Where the rows of a column begin that lie one after the other: in 2 bytes a row, not 8.

#include "parsers/base/ascending_column.h"

#include <cstddef>
#include <cstdint>

namespace heapsift {

/// Ascending starts; usually one more than there are rows.
class RowStarts {
public:
    RowStarts() = default;

    std::size_t size() const { return starts_.size(); }
    bool empty() const { return starts_.empty(); }
    std::uint64_t operator[](std::size_t row) const { return starts_[row]; }
    /// Prefetches what operator[] will read.
    void fetch(std::size_t row) const { starts_.fetch(row); }
    std::uint64_t memory_bytes() const { return starts_.memory_bytes(); }

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
        Starts::fields(self.starts_, part, 0, last);
        part.require(self.size() == count && (count == 0 || (self[0] == 0 && self[count - 1] == last)),
                     "the rows do not end where their entries do");
    }

private:
    friend class RowStartsBuilder;
    using Starts = AscendingColumn<std::uint16_t>;
    Starts starts_;
};

/// Fills RowStarts, row by row.
class RowStartsBuilder {
public:
    void reserve(std::size_t rows) { starts_.reserve(rows); }
    std::size_t size() const { return starts_.size(); }
    /// Not less than the one before.
    void push_back(std::uint64_t start) { starts_.push_back(start); }
    /// Replaces each start by moved(start), in order; the distances must not grow.
    template <class F>
    void move_all(F&& moved) {
        starts_.move_all(moved);
    }
    RowStarts finish() {
        RowStarts starts;
        starts.starts_ = starts_.finish();
        return starts;
    }

private:
    AscendingBuilder<std::uint16_t> starts_;
};

}  // namespace heapsift
