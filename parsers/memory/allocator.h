#pragma once

// An allocator, as far as is needed to say who owns each byte: the memory that it owns, divided into blocks
// that are free or in use, with headers and padding between them.
//
// There are pymalloc (parsers/cpython/pymalloc.h, since the layout of its pools is part of CPython's), glibc's
// malloc (malloc_heaps.h), jemalloc, mimalloc and tcmalloc (in files of these names). To add one, NAME:
//
//     NAME.h, NAME.cpp      a class that derives from Allocator; mimalloc.h is a model, and BlockRuns (block_runs.h)
//                           keeps blocks of one size in a row. By custom a static find(const AddressSpace&)
//                           recognises it by the bytes of the core, and believes no count that its mapping cannot
//                           hold; what needs symbols or CPython's layouts is given to it
//     other_allocators.cpp  asks for it, before malloc's heaps are looked for, since these skip its memory
//                           (jemalloc, which needs the threads, is asked for in snapshot/passes.cpp)
//     snapshot/passes.cpp   if its library has a name, libNAME.so: in the list of those that are missed where they
//                           are not read; name() must then be NAME
//     tests                 memory/NAME_test.cpp on WrittenMemory, with check_allocator (check_allocator.h);
//                           real/preloaded.py, with its package in more_packages of testdata/test.sh
//
// What happens to a byte that two of them claim: snapshot/allocations.h. EvenBlocks in
// tests/snapshot/regions_test.cpp shows what the rest of the program makes of one.
//
// Objects, their sizes, the rows of memory, the blocks of C code (block_groups.h, native_graph.h) and the words of
// native code are then found through this interface. What the allocator has for itself lies in its ranges, outside
// its blocks: words there hold nothing.

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

    /// "pymalloc", "malloc"; of a library libNAME.so, NAME.
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
