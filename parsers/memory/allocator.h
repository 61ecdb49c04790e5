#pragma once

// An allocator, as far as one must know it to say whose each byte is: the memory that it owns, cut into
// blocks that are free or in use, and between them headers and padding.
//
// pymalloc (parsers/cpython/pymalloc.h: how its pools lie is part of CPython's layout) and glibc's malloc
// (malloc_heaps.h) are two. Another one is a file of its own in this folder, with a class that derives from
// Allocator, and one line that adds it, `allocations.add(...)`, behind `sources.allocations` in
// parsers/snapshot/passes.cpp. Finding objects, their sizes and the rows of memory go through this
// interface then.

#include "parsers/base/address.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

struct MemoryBlock {
    Address start;            // what the allocator returned, or would return
    std::uint64_t bytes = 0;  // that the program may use
    bool in_use = false;

    AddressRange range() const { return {start, start + bytes}; }
};

class Allocator {
public:
    virtual ~Allocator() = default;

    /// "pymalloc", "malloc".
    virtual const char* name() const = 0;
    /// All memory that it owns, sorted, no overlaps. Parts of it may be mapped no longer.
    virtual std::vector<AddressRange> ranges() const = 0;
    /// The block that holds `address`, free or in use; nothing in a header, in padding, and elsewhere.
    virtual std::optional<MemoryBlock> block_at(Address address) const = 0;
    /// All blocks in order of address, some at a time; each lies in one of `ranges`, and none overlaps
    /// another. Cost: some nanoseconds a block; the span lasts as long as the call.
    using BlockVisitor = std::function<void(std::span<const MemoryBlock>)>;
    virtual void visit_blocks(const BlockVisitor& visit) const = 0;
};

}  // namespace heapsift
