#pragma once

// From a place in a function's bytecode to a line of its source.

#include "parsers/cpython/python_heap.h"

#include <vector>

namespace heapsift {

/// The line table of one code object, unpacked.
class CodeLines {
public:
    CodeLines() = default;
    /// Empty for a table that does not read. Cost: the bytes of the table.
    CodeLines(const PythonHeap& heap, Address code);

    /// The line of the instruction `offset` bytes from the start; the function's first line before the start
    /// (a generator that was not asked yet); 0 where no line belongs to it, or nothing is known.
    std::int32_t line_at(std::int64_t offset) const;

private:
    struct Stretch {
        std::int64_t end;   // in bytes from the start; the one before it ends where this begins
        std::int32_t line;  // 0: none
    };
    void read_increments(const std::vector<std::uint8_t>& table);
    void read_ranges(const std::vector<std::uint8_t>& table);
    void read_locations(const std::vector<std::uint8_t>& table);
    void add(std::int64_t end, std::int64_t line);

    std::int32_t first_line_ = 0;
    std::vector<Stretch> stretches_;
};

}  // namespace heapsift
