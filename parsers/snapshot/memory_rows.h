#pragma once

// What the memory of a process is used for, in the words of the contract with users; by allocator and by mapping.

#include "parsers/base/address.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/sparse_arenas.h"

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

/// What a row of MemoryRows is of: one of each is in use.
enum class MemoryKind : std::uint8_t {
    objects,
    array_data,
    c_code,
    tables,
    free,
    module_data,
    stacks,
    data_files,
    other
};

struct MemoryPart {
    std::string name;
    std::uint64_t bytes = 0;
};

struct MemoryRow {
    std::string name;
    std::uint64_t bytes = 0;
    MemoryUse use = MemoryUse::in_use;
    std::vector<MemoryPart> parts = {};  // if there are several; they add up to `bytes`
    MemoryKind kind = MemoryKind::other;
};

/// The name of the row of malloc's blocks that are not part of a Python object.
inline constexpr const char* objects_row = "Python objects";
inline constexpr const char* c_code_row = "C/C++ memory";
/// And of what allocators keep.
inline constexpr const char* free_row = "free, not given back to the system";

/// An arena of malloc, headers included (malloc.c, struct malloc_state).
struct ArenaRow {
    Address state;
    std::uint64_t mapped = 0;  // taken from the kernel and not given back: malloc_info's "system current"
    std::uint64_t in_use = 0;  // chunks that the program has
    std::uint64_t kept = 0;    // free chunks that look in use: in threads' caches and fast bins
    std::uint64_t free = 0;    // free chunks and the top
};

struct AllocatorRow {
    std::string name;
    std::uint64_t mapped = 0;    // all its memory; more than the others together by its headers and padding
    std::uint64_t in_use = 0;    // what was handed out
    std::uint64_t free = 0;      // and what was not, as far as it was ever touched
    std::uint64_t trim = 0;      // whole pages of it in malloc's chunks, which malloc_trim(0) would give back
    std::uint64_t reserved = 0;  // never touched
    std::uint64_t blocks = 0;    // in use
    std::vector<ArenaRow> arenas = {};  // malloc's, if its state was found; the main one first
    std::uint64_t mapped_blocks = 0,
                  mapped_bytes = 0;  // malloc's blocks with mappings of their own, headers included
};

/// A mapping, and whose its bytes are.
struct MappingRow {
    AddressRange range;
    bool readable = false, writable = false, executable = false;
    bool saved = false;  // in the core or, if it is of a program, in the program's file
    MemoryShares shares = {};
};

/// Each byte is in one row; all rows together are the mapped memory. What is in use comes first, sorted by bytes,
/// "other" last of it.
struct MemoryRows {
    std::vector<MemoryRow> rows;
    std::uint64_t overlaps = 0;  // claims that cannot all be true, settled by rule (region_map.h)
    std::vector<AllocatorRow> allocators = {};
    std::vector<MappingRow> mappings = {};  // by address
    SparseArenas sparse = {};               // pymalloc's

    std::uint64_t bytes_of(MemoryUse use) const {
        std::uint64_t bytes = 0;
        for (const MemoryRow& row : rows) bytes += row.use == use ? row.bytes : 0;
        return bytes;
    }
};

}  // namespace heapsift
