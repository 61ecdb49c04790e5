#pragma once

// The source line that allocated one object or block, where tracemalloc was on.

#include "parsers/cpython/tracemalloc.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct SourceLine {
    std::string file;        // not escaped
    std::uint32_t line = 0;  // 0 unknown
};

/// The `frames` most recent calls of a traceback, the most recent one first.
std::span<const TracedFrame> latest_calls(const TracedMemory& traced, std::uint32_t traceback,
                                          std::size_t frames);
/// By traceback, the first one that has the same `frames` most recent calls.
std::vector<std::uint32_t> alike_tracebacks(const TracedMemory& traced, std::size_t frames);
/// The same calls in words, the most recent one last.
std::vector<SourceLine> source_lines(const TracedMemory& traced, std::uint32_t traceback, std::size_t frames);

/// The calls that allocated the block which begins at `start`, the most recent one last; empty if tracemalloc has no
/// such block. Cost: some ms.
std::vector<SourceLine> allocated_at(const HeapReader& heap, Address start);
/// The same of an object: its own block, whatever it owns besides.
std::vector<SourceLine> allocated_at(const HeapReader& heap, ObjectId object);

}  // namespace heapsift
