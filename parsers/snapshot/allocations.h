#pragma once

// Which block of which allocator an address belongs to: pymalloc's, malloc's, or none (static data, other memory).

#include "parsers/cpython/pymalloc.h"
#include "parsers/malloc/malloc_heaps.h"

#include <optional>

namespace heapsift {

class Allocations {
public:
    Allocations(const AddressSpace& memory, Pymalloc pymalloc, MallocHeaps heaps)
        : memory_(&memory), pymalloc_(std::move(pymalloc)), heaps_(std::move(heaps)) {}

    const Pymalloc& pymalloc() const { return pymalloc_; }
    const MallocHeaps& malloc_heaps() const { return heaps_; }

    enum class Owner : std::uint8_t { pymalloc, malloc, none };
    struct Block {
        Address start;
        std::uint64_t usable = 0;  // bytes that the allocator handed out
        Owner owner = Owner::none;
    };
    /// The allocated block that starts at `start`.
    std::optional<Block> block_starting_at(Address start) const;
    /// Bytes of the block that starts at `start`, for a request of `requested` bytes: what the allocator handed out; 0 in a module's
    /// static data; `requested` rounded up to 16 where no allocator that is known has it.
    std::uint64_t bytes_of(Address start, std::uint64_t requested) const;
    /// A module's writable data or the anonymous memory right behind it.
    bool is_static(Address address) const;

private:
    const AddressSpace* memory_;
    Pymalloc pymalloc_;
    MallocHeaps heaps_;
};

}  // namespace heapsift
