#pragma once

// pymalloc: arenas cut into pools, pools cut into blocks of one size. (obmalloc.c; how pools are found:
// pymalloc.cpp.)
//
// It is an allocator like malloc and implements the same interface, but stands here and not in
// parsers/memory: the fields of a pool's header and of the table of arenas are CPython's layout.

#include "parsers/base/address_index.h"
#include "parsers/base/diagnostics.h"
#include "parsers/cpython/pool_search.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/memory/allocator.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

class Pymalloc final : public Allocator {
public:
    /// Finds all pools, proves each by its own header and free list, and all of them by the table of arenas
    /// where that is found. Cost: one look at each pool-sized step of writable memory, and the free lists.
    static Pymalloc find(const PythonHeap& heap, Diagnostics& diagnostics);

    /// By address.
    const std::vector<Pool>& pools() const { return pools_; }
    std::uint32_t pool_size() const { return pool_size_; }
    /// Where blocks begin in a pool: the size of its header.
    std::uint32_t header_size() const { return header_size_; }
    /// [start, end) of each arena, sorted. Empty where the table of arenas was not found: then pools alone
    /// are known.
    const std::vector<AddressRange>& arenas() const { return arenas_; }
    bool arenas_proved() const { return arenas_proved_; }
    const char* name() const override { return "pymalloc"; }
    /// Its arenas, or where these are not known its pools.
    std::vector<AddressRange> ranges() const override;
    bool in_arena(Address address) const;
    /// Words about how the arenas were found, for doctor.
    const std::string& found_by() const { return found_by_; }
    /// Pools whose header or free list did not add up: of those in proved arenas whose header reads, the
    /// blocks are in pools().
    std::uint64_t damaged_pools() const { return damaged_pools_; }

    /// The pool that holds `address`, or null. Constant time: some 3 ns.
    const Pool* pool_at(Address address) const {
        const std::uint32_t chunk = chunks_.find(chunk_key(address));
        if (chunk == AddressIndex::missing) return nullptr;
        const std::uint32_t pool = pool_of_slot_[chunk + (address.value % chunk_size) / pool_size_];
        return pool == no_pool ? nullptr : &pools_[pool];
    }
    /// Nothing outside of carved blocks.
    std::optional<MemoryBlock> block_at(Address address) const override;
    /// A pool's blocks at a time. What no pool has carved yet, and pools that are free, are free blocks, too.
    void visit_blocks(const BlockVisitor& visit) const override;

    std::uint64_t bytes_in_pools() const { return pools_.size() * std::uint64_t{pool_size_}; }
    std::uint64_t bytes_allocated() const;

    /// A byte a block, 1 where it is free; `pool` must be one of pools(). The vector is reused between calls.
    void free_blocks(const Pool& pool, std::vector<std::uint8_t>& free) const;

private:
    static constexpr std::uint64_t chunk_size = 1 << 20;
    static constexpr std::uint32_t no_pool = 0xffffffff;
    static Address chunk_key(Address a) { return a.rounded_down(chunk_size) + 1; }  // never null
    void index_pools();
    void add_damaged(const std::vector<Pool>& damaged, const AddressSpace& memory);

    std::vector<Pool> pools_;
    // From an address to its pool: an index of the MiB that hold pools at all, small enough for the
    // first-level cache, and for each of these a table of its pools.
    AddressIndex chunks_;
    std::vector<std::uint32_t> pool_of_slot_;
    std::vector<AddressRange> arenas_;
    std::uint32_t pool_size_ = 0;
    std::uint32_t header_size_ = 48;
    bool arenas_proved_ = false;
    std::string found_by_;
    std::uint64_t damaged_pools_ = 0;
    LayoutOffset freeblock_;
};

}  // namespace heapsift
