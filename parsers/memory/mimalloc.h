#pragma once

// mimalloc 2, recognised by its own headers: which blocks are in use, and which are free. (mimalloc.cpp says how it
// divides memory, and what proves it.)

#include "parsers/elf/address_space.h"
#include "parsers/memory/allocator.h"
#include "parsers/memory/block_runs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

class Mimalloc final : public Allocator {
public:
    /// All segments of 32 MiB and more, of one copy of mimalloc or several, of threads that live and that have
    /// ended. Null if there are none. Cost where there are none: a look at one address in each 32 MiB of writable
    /// anonymous memory; else the lists of free blocks.
    static std::unique_ptr<const Mimalloc> find(const AddressSpace& memory);

    const char* name() const override { return "mimalloc"; }
    std::vector<AddressRange> ranges() const override { return segments_; }
    /// A block of an aligned request begins where mimalloc's does: what it returned may lie further on.
    std::optional<MemoryBlock> block_at(Address address) const override { return runs_.block_at(address); }
    /// Pages that were never cut into blocks are free blocks.
    void visit_blocks(const BlockVisitor& visit) const override { runs_.visit_blocks(visit); }

    /// Segments and pages that do not add up, and their bytes. Where the lists of free blocks of a page break off,
    /// its other blocks are taken for blocks in use; what has no readable page is one block in use.
    struct Damage {
        std::uint64_t places = 0, bytes = 0;
    };
    const Damage& damage() const { return damage_; }

private:
    friend class MimallocFinder;
    std::vector<AddressRange> segments_;  // by address, without overlaps
    BlockRuns runs_;
    Damage damage_;
};

}  // namespace heapsift
