#pragma once

// From a position in a function's bytecode to a line of its source.

#include "parsers/cpython/python_heap.h"

#include <vector>

namespace heapsift {

/// The unpacked line table of one code object.
class CodeLines {
public:
    CodeLines() = default;
    /// Empty if the table cannot be read. Cost: the bytes of the table.
    CodeLines(const PythonHeap& heap, Address code);

    /// The line of the instruction `offset` bytes from the start. Before the start (a generator that was not
    /// yet asked) it is the function's first line; 0 if no line belongs to the instruction, or nothing is
    /// known.
    std::int32_t line_at(std::int64_t offset) const;

private:
    struct Stretch {
        std::int64_t end;   // in bytes from the start; it starts at the end of the one before
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
