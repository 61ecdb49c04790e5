#pragma once

// An allocator, as far as is needed to say who owns each byte: the memory that it owns, divided into blocks
// that are free or in use, with headers and padding between them.
//
// There are two: pymalloc (parsers/cpython/pymalloc.h, since the layout of its pools is part of CPython's)
// and glibc's malloc (malloc_heaps.h). To add one, write a class that derives from Allocator, in its own file
// in this folder. By custom a static find(const AddressSpace&) recognises it by the bytes of the core, and
// believes no count that its mapping cannot hold; what needs symbols or CPython's layouts is given to it.
// Behind `sources.allocations = …` in parsers/snapshot/passes.cpp goes a line, `sources.allocations->add(…)`;
// off note_allocators there and the README's "It cannot yet" goes its name. An example, and its test, is
// EvenBlocks in tests/snapshot/regions_test.cpp.
//
// Objects, their sizes, the rows of memory and the blocks of C code (block_groups.h) are then found through this
// interface. Not yet: a word in one of its free blocks counts as a reference of native code
// (native_references.cpp).

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
    /// All memory that it owns, sorted, without overlaps. Parts of it may no longer be mapped.
    virtual std::vector<AddressRange> ranges() const = 0;
    /// The block that holds `address`, free or in use; nothing in headers, in padding, and elsewhere.
    virtual std::optional<MemoryBlock> block_at(Address address) const = 0;
    /// All blocks in order of address, some at a time. Each lies in one of `ranges`, and no two overlap.
    /// Cost: a few nanoseconds a block. The span is valid during the call.
    using BlockVisitor = std::function<void(std::span<const MemoryBlock>)>;
    virtual void visit_blocks(const BlockVisitor& visit) const = 0;
};

}  // namespace heapsift
