#pragma once

// What the memory of a process is used for, in the words of the contract with users.

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// What the bytes of a row count as.
enum class MemoryUse : std::uint8_t {
    in_use,         // the process's own, as far as it has touched them
    program_files,  // of files that it had mapped and did not change: the core does not tell which were in memory
    reserved        // addresses that it never used
};

struct MemoryRow {
    std::string name;
    std::uint64_t bytes;
    MemoryUse use = MemoryUse::in_use;
};

/// Each byte is in one row; all rows together are the mapped memory. What is in use comes first, sorted by bytes,
/// "other" last of it.
struct MemoryRows {
    std::vector<MemoryRow> rows;
    std::uint64_t bytes_of(MemoryUse use) const {
        std::uint64_t bytes = 0;
        for (const MemoryRow& row : rows) bytes += row.use == use ? row.bytes : 0;
        return bytes;
    }
    std::uint64_t overlaps = 0;  // claims that cannot all be true, settled by rule (region_map.h)
};

}  // namespace heapsift
