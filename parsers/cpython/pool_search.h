#pragma once

// Pools by their shape: memory that reads as a pool of pymalloc, wherever it lies. What confirms them, the table
// of arenas, is looked for by pymalloc.cpp, which also says where all this is from; before there is a heap, the
// number of pools that add up tells which of two layouts of their header is this build's.

#include "parsers/cpython/layout.h"
#include "parsers/elf/address_space.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// One pool that has or had blocks. Free blocks are known block by block.
struct Pool {
    Address start;
    std::uint32_t block_size = 0;     // bytes, a multiple of the alignment
    std::uint32_t carved = 0;         // blocks that were ever handed out; the rest was never touched
    std::uint32_t allocated = 0;      // of these, in use now
    const std::byte* data = nullptr;  // the whole pool
};

struct PoolSearch {
    struct Found {
        Pool pool;
        std::uint32_t arenaindex = 0;
    };
    std::vector<Found> pools;
    std::vector<Pool> damaged;  // the free list does not add up
};

/// Pools are read in place, and so must hold their header: false where fields are not there or lie behind it.
/// Then nothing below may be asked.
bool pool_header_reads(const Layout& layout);

/// Bytes: the header is rounded up to the alignment, 16 or 8.
std::uint32_t pool_header_size(const Layout& layout, std::uint32_t alignment);

/// One look at each `pool_size` bytes of writable memory, and the free lists of what reads as a pool.
PoolSearch search_pools(const AddressSpace& memory, const Layout& layout, std::uint32_t pool_size,
                        std::uint32_t header_size, std::uint32_t alignment);

/// How many pools add up, header and free list, where pool_header is as `layout` has it: next to none where
/// it is not. One look at each 4 KiB of writable memory.
std::size_t whole_pools(const AddressSpace& memory, const Layout& layout);

}  // namespace heapsift
