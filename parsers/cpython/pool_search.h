#pragma once

// Finds pools by their shape: memory that reads as a pool of pymalloc, wherever it lies. pymalloc.cpp
// confirms them with the table of arenas, and names the sources. Before there is a heap, the number of pools
// that add up tells which of two layouts of their header is this build's.

#include "parsers/cpython/layout.h"
#include "parsers/elf/address_space.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// A pool that has or had blocks. Its free blocks are known one by one.
struct Pool {
    Address start;
    std::uint32_t block_size = 0;     // bytes, a multiple of the alignment
    std::uint32_t carved = 0;         // blocks ever handed out; the rest was never touched
    std::uint32_t allocated = 0;      // of these, in use now
    const std::byte* data = nullptr;  // the whole pool
};

struct PoolSearch {
    struct Found {
        Pool pool;
        std::uint32_t arenaindex = 0;
    };
    std::vector<Found> pools;
    /// The free list is whole, but has one block more or less than the count leaves: so a pool reads between two stores
    /// of the functions that take a block and give it back (obmalloc.c).
    std::vector<Found> off_by_one;
    std::vector<Pool> damaged;  // the free list does not add up
};

/// Pools are read in place, and so must contain their header: false if fields are missing or lie beyond it.
/// In that case do not call what follows.
bool pool_header_reads(const Layout& layout);

/// In bytes, rounded up to the alignment, 16 or 8.
std::uint32_t pool_header_size(const Layout& layout, std::uint32_t alignment);

/// Looks once at each `pool_size` bytes of writable memory, and at the free lists of what reads as a pool.
PoolSearch search_pools(const AddressSpace& memory, const Layout& layout, std::uint32_t pool_size,
                        std::uint32_t header_size, std::uint32_t alignment);

/// How many pools have a header and a free list that agree, with pool_header as in `layout`; almost none if
/// that is wrong. One look at each 4 KiB of writable memory.
std::size_t whole_pools(const AddressSpace& memory, const Layout& layout);

}  // namespace heapsift
