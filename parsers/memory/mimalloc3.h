#pragma once

// mimalloc 3, recognised by its map of pages: which blocks are in use, and which are free. (mimalloc3.cpp says how it
// divides memory, and what proves it.)

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"
#include "parsers/memory/allocator.h"
#include "parsers/memory/block_runs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

class Mimalloc3 final : public Allocator {
public:
    /// The first copy whose map the data of `modules` leads to. Null if there is none. Cost where there is none: a
    /// look at each word of the modules' data, and at what few of them lead to; else the lists of free blocks.
    static std::unique_ptr<const Mimalloc3> find(const AddressSpace& memory, std::span<const Module> modules);

    const char* name() const override { return "mimalloc"; }
    std::vector<AddressRange> ranges() const override { return ranges_; }
    /// A block of an aligned request begins where mimalloc's does: what it returned may lie further on.
    std::optional<MemoryBlock> block_at(Address address) const override { return runs_.block_at(address); }
    /// What of an arena is in no page is free blocks.
    void visit_blocks(const BlockVisitor& visit) const override { runs_.visit_blocks(visit); }

    /// Pages that do not add up, and their bytes: blocks that their lists do not lead to are taken for blocks in use.
    struct Damage {
        std::uint64_t places = 0, bytes = 0;
    };
    const Damage& damage() const { return damage_; }

private:
    friend class Mimalloc3Finder;
    std::vector<AddressRange> ranges_;  // arenas, and pages elsewhere; by address
    BlockRuns runs_;
    Damage damage_;
};

}  // namespace heapsift
