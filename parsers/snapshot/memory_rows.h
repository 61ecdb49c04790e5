#pragma once

// What the memory of a process is used for, in the words of the contract with users.

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct MemoryRow {
    std::string name;
    std::uint64_t bytes;
};

/// Each byte is in one row; all rows together are the mapped memory. Sorted by bytes, "other" last.
struct MemoryRows {
    std::vector<MemoryRow> rows;
    std::uint64_t overlaps = 0;  // claims that cannot all be true, settled by rule (region_map.h)
};

}  // namespace heapsift
