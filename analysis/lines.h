#pragma once

// Memory by the source line that allocated it, where tracemalloc was on.

#include "analysis/source_line.h"
#include "parsers/cpython/tracemalloc.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// All blocks that one line, or one traceback, allocated.
struct LineRow {
    std::vector<SourceLine> traceback = {};    // the most recent call last; at least one
    std::optional<std::uint32_t> domain = {};  // if they are grouped by it
    std::uint64_t count = 0;
    std::uint64_t size = 0;  // bytes that were asked for
    Address largest = {};    // where the largest block begins; of several, the lowest
    std::uint64_t average() const { return count == 0 ? 0 : size / count; }
    const SourceLine& line() const { return traceback.back(); }
};

/// Blocks of one domain: who traces them.
struct TracedDomain {
    std::uint32_t domain = 0;
    std::uint64_t count = 0, size = 0;
};

enum class LineSort : std::uint8_t { size, count, average, name };

struct LinesQuery {
    std::size_t frames = 1;                    // group by so many most recent calls
    bool by_domain = false;                    // and by domain
    std::optional<std::uint32_t> domain = {};  // only this one
    bool native_only = false;  // the blocks are C code's (keep_native_blocks); for what is said of them
    LineSort sort = LineSort::size;
    std::size_t limit = 0;  // 0: all
};

struct LinesResult {
    bool available = true;  // the version has tracemalloc
    bool tracing = false;
    std::uint32_t most_frames = 0;  // frames that tracemalloc recorded of each traceback, at most; 0 unknown
    std::vector<LineRow> lines = {};                                 // cut to the limit
    std::uint64_t total_lines = 0, total_count = 0, total_size = 0;  // of all rows
    std::uint64_t shown_size = 0;
    std::vector<TracedDomain> domains = {};           // of all blocks, by number
    std::uint64_t unread = 0;                         // blocks whose records do not read
    std::optional<std::uint64_t> counted_bytes = {};  // by the interpreter itself, of all domains
    std::uint64_t traced_bytes = 0;                   // the sum of what was read, of all domains
};

/// Rows in the order asked for; ties by size, count, file, line, domain.
LinesResult lines(const TracedMemory& traced, const LinesQuery& query);

}  // namespace heapsift
