#pragma once

// jemalloc 5, of one process. (How it is recognised: jemalloc_tree.cpp.)

#include "parsers/elf/core_types.h"
#include "parsers/memory/allocator.h"
#include "parsers/memory/jemalloc_tree.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

class Jemalloc final : public Allocator {
public:
    /// Null if the process has none that proves itself. A process may have several, one preloaded and one inside a
    /// library: they are read as one. Cost: jemalloc_tree.h, jemalloc_caches.h.
    static std::unique_ptr<const Jemalloc> find(const AddressSpace& memory, std::span<const Module> modules,
                                                std::span<const CoreThread> threads);

    const char* name() const override { return "jemalloc"; }
    /// With what it has for itself, in which there are no blocks.
    std::vector<AddressRange> ranges() const override { return ranges_; }
    std::optional<MemoryBlock> block_at(Address address) const override;
    void visit_blocks(const BlockVisitor& visit) const override;

    /// Blocks that hold its own tables.
    std::uint64_t own_bytes() const;
    /// Blocks that threads' caches keep, of slabs and large ones.
    struct Cached {
        std::uint64_t in_slabs = 0, large = 0;  // bytes
    };
    const Cached& cached() const { return cached_; }
    /// What did not prove itself, of which the blocks are not read or may be wrong.
    struct Doubts {
        std::uint64_t extents = 0;  // left out, or with a wrong count of free regions
        std::uint64_t cached = 0;   // blocks in threads' caches that the extents do not know as in use
        bool no_caches = false;     // none was found
    };
    const Doubts& doubts() const { return doubts_; }

private:
    explicit Jemalloc(std::vector<JemallocTree> trees);
    const JemallocExtent* extent_at(Address address) const;
    void free_cached(Address start, unsigned size_class);
    void take_own(Address address);
    /// The region at `index` of a slab; in bytes from its start.
    bool is_free(const JemallocExtent& slab, std::uint64_t index) const {
        return (free_bits_[slab.start + index / 64] >> (index % 64) & 1) != 0;
    }

    std::vector<JemallocExtent> extents_;   // by address, without overlaps
    std::vector<std::uint64_t> free_bits_;  // of slabs, as in JemallocTree
    std::vector<AddressRange> ranges_;
    std::vector<Address> own_;  // blocks that are tables of jemalloc; by address
    Cached cached_;
    Doubts doubts_;
};

}  // namespace heapsift
