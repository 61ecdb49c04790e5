#pragma once

// pymalloc: arenas cut into pools, pools cut into blocks of one size. (obmalloc.c; pymalloc.cpp says how
// pools are found.)
//
// It implements the same interface as other allocators, but is here and not in parsers/memory because the
// fields of a pool's header and of the table of arenas are part of CPython's layout.

#include "parsers/base/address_index.h"
#include "parsers/base/diagnostics.h"
#include "parsers/cpython/pool_search.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_types.h"
#include "parsers/memory/allocator.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

class Pymalloc final : public Allocator {
public:
    /// Finds all pools; each is proved by its own header and free list, and all of them by the table of
    /// arenas if that is found. Cost: one look at each pool-sized step of writable memory, and the free
    /// lists. `threads` are the core's, whose registers tell which pool one of them was changing: such a pool
    /// may be one block off.
    static Pymalloc find(const PythonHeap& heap, Diagnostics& diagnostics,
                         std::span<const CoreThread> threads = {});

    /// As a part of an index (parsers/index/part.h), for the memory and the layout that it was found with.
    /// One that was read has to be `attached` before it is used.
    template <class Self, class Part>
    static void fields(Self& self, Part& part);
    /// Finds the bytes of each pool, after the pools were read. Throws IndexDamage if one cannot be there.
    void attach(const AddressSpace& memory, const Layout& layout);

    /// By address.
    const std::vector<Pool>& pools() const { return pools_; }
    std::uint32_t pool_size() const { return pool_size_; }
    /// Where blocks begin in a pool: the size of its header.
    std::uint32_t header_size() const { return header_size_; }
    /// [start, end) of each arena, sorted. Empty if the table of arenas was not found, so that only pools are
    /// known.
    const std::vector<AddressRange>& arenas() const { return arenas_; }
    bool arenas_proved() const { return arenas_proved_; }
    const char* name() const override { return "pymalloc"; }
    /// Its arenas or, if these are unknown, its pools.
    std::vector<AddressRange> ranges() const override;
    bool in_arena(Address address) const;
    /// How the arenas were found, in words, for doctor.
    const std::string& found_by() const { return found_by_; }
    /// Pools whose header or free list is inconsistent. If such a pool has a readable header and lies in a
    /// proved arena, its blocks are in pools().
    std::uint64_t damaged_pools() const { return damaged_pools_; }

    /// The pool that holds `address`, or null. Constant time: about 3 ns.
    const Pool* pool_at(Address address) const {
        const std::uint32_t chunk = chunks_.find(chunk_key(address));
        if (chunk == AddressIndex::missing) return nullptr;
        const std::uint32_t pool = pool_of_slot_[chunk + (address.value % chunk_size >> pool_bits_)];
        return pool == no_pool ? nullptr : &pools_[pool];
    }
    /// Nothing outside carved blocks.
    std::optional<MemoryBlock> block_at(Address address) const override;
    /// Visits one pool's blocks at a time. What a pool has not carved yet, and unused pools, are free blocks
    /// too.
    void visit_blocks(const BlockVisitor& visit) const override;

    std::uint64_t bytes_in_pools() const { return pools_.size() * std::uint64_t{pool_size_}; }
    std::uint64_t bytes_allocated() const;

    /// Sets one byte for each block, 1 if it is free. `pool` must be one of pools(). The vector may be
    /// reused.
    void free_blocks(const Pool& pool, std::vector<std::uint8_t>& free) const;

private:
    static constexpr std::uint64_t chunk_size = 1 << 20;
    static constexpr std::uint32_t no_pool = 0xffffffff;
    static Address chunk_key(Address a) { return a.rounded_down(chunk_size) + 1; }  // never null
    void index_pools();
    void add_damaged(const std::vector<Pool>& damaged, const AddressSpace& memory);

    std::vector<Pool> pools_;
    // From an address to its pool: an index of the MiB that contain pools, small enough for the first-level
    // cache, and for each MiB a table of its pools.
    AddressIndex chunks_;
    std::vector<std::uint32_t> pool_of_slot_;
    std::vector<AddressRange> arenas_;
    std::uint32_t pool_size_ = 0;
    unsigned pool_bits_ = 0;  // its logarithm
    std::uint32_t header_size_ = 48;
    bool arenas_proved_ = false;
    std::string found_by_;
    std::uint64_t damaged_pools_ = 0;
    LayoutOffset freeblock_;
};

template <class Self, class Part>
void Pymalloc::fields(Self& self, Part& part) {
    part.list(self.pools_, [](auto& pool, Part& p) {
        struct Kept {
            Address start;
            std::array<std::uint32_t, 4> numbers;
        } kept{pool.start, {pool.block_size, pool.carved, pool.allocated, 0}};
        p.number(kept);
        if constexpr (Part::reading) {
            const std::uint32_t left_over = kept.numbers[3];
            p.require(left_over == 0, "a pool has more fields");
            pool = {kept.start, kept.numbers[0], kept.numbers[1], kept.numbers[2]};
        }
    });
    part.list(self.arenas_, [](auto& arena, Part& p) { p.number(arena); });
    part.number(self.pool_size_);
    part.number(self.header_size_);
    part.number(self.arenas_proved_);
    part.text(self.found_by_);
    part.number(self.damaged_pools_);
}

}  // namespace heapsift
