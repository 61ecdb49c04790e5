#pragma once

// gperftools' tcmalloc, recognised by its own tables: which blocks are in use, and which are free. (tcmalloc.cpp says
// how it divides memory, and what proves it.)

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

class Tcmalloc final : public Allocator {
public:
    /// The first copy in the data of `modules`. Null if there is none. Cost where there is none: a look at each
    /// word of modules that have 512 KiB of data and more; else the map of pages and the lists of free blocks.
    static std::unique_ptr<const Tcmalloc> find(const AddressSpace& memory, std::span<const Module> modules);

    const char* name() const override { return "tcmalloc"; }
    /// Spans of pages; tcmalloc's own tables are not among them.
    std::vector<AddressRange> ranges() const override { return spans_; }
    std::optional<MemoryBlock> block_at(Address address) const override { return runs_.block_at(address); }
    /// Spans that nobody has are free blocks.
    void visit_blocks(const BlockVisitor& visit) const override { runs_.visit_blocks(visit); }

    /// Spans and lists that do not add up, and the spans' bytes. Where a list of free blocks breaks off, the rest of
    /// its blocks are taken for blocks in use.
    struct Damage {
        std::uint64_t places = 0, bytes = 0;
    };
    const Damage& damage() const { return damage_; }
    /// Threads whose caches were found.
    std::uint64_t thread_caches() const { return thread_caches_; }

private:
    friend class TcmallocFinder;
    std::vector<AddressRange> spans_;  // by address; neighbours are one range
    BlockRuns runs_;
    Damage damage_;
    std::uint64_t thread_caches_ = 0;
};

}  // namespace heapsift
