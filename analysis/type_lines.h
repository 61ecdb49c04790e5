#pragma once

// Objects grouped by type and by the source line that allocated them, where tracemalloc was on.

#include "analysis/source_line.h"
#include "analysis/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct TypeLineRow {
    std::string type;
    Address type_address = {};
    SourceLine line = {};
    std::uint64_t count = 0, size = 0, memory = 0;  // sums, as in TypeRow
    Address largest = {};                           // by memory; of several, the lowest address
};

struct TypeLinesResult {
    bool available = true, tracing = false;                                           // as in TracedMemory
    std::vector<TypeLineRow> rows = {};                                               // cut to the limit
    std::uint64_t total_rows = 0, total_count = 0, total_size = 0, total_memory = 0;  // of all rows
    std::uint64_t shown_memory = 0;
    // Objects without a row: tracing began later, or nobody allocated them.
    std::uint64_t untraced_count = 0, untraced_memory = 0;
};

/// `heap` has sizes. `wanted`: only objects of these types; empty: all. `sort`: memory, size, count or name, ties by
/// memory, type, file and line; `limit` 0: all. An object belongs to the line of its own block, whoever allocated what
/// it owns besides. Cost: the blocks are sorted; one pass over all objects.
TypeLinesResult type_lines(const HeapReader& heap, TracedMemory traced, const std::vector<TypeId>& wanted,
                           SortKey sort, std::size_t limit);

}  // namespace heapsift
