#pragma once

// Which block of which allocator an address belongs to: pymalloc's, malloc's, or none (static data, other
// memory).

#include "parsers/cpython/pymalloc.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/malloc_heaps.h"

#include <memory>
#include <optional>
#include <vector>

namespace heapsift {

class Allocations {
public:
    Allocations(const CoreFile& core, Pymalloc pymalloc, MallocHeaps heaps);

    const Pymalloc& pymalloc() const { return pymalloc_; }
    const MallocHeaps& malloc_heaps() const { return heaps_; }
    /// Another allocator, beside these two. Where the memory of two overlaps, a block is pymalloc's, then an added
    /// one's, then malloc's; a row of memory goes by the order of all().
    void add(std::unique_ptr<const Allocator> allocator);
    /// All of them: pymalloc, malloc, those that were added.
    std::vector<const Allocator*> all() const;
    /// In the memory of one that is known?
    bool in_divided_memory(Address address) const {
        return pymalloc_.pool_at(address) || pymalloc_.in_arena(address) || heaps_.heap_at(address) ||
               other_at(address) != nullptr;
    }

    /// `mapping`: malloc's, a mapping of its own. `other`: of an allocator that was added.
    enum class Owner : std::uint8_t { pymalloc, malloc, mapping, other, none };
    struct Block {
        Address start;
        std::uint64_t usable = 0;  // bytes that the allocator handed out
        Owner owner = Owner::none;
    };
    /// Are Python's debug hooks on (PYTHONMALLOC=debug, -X dev)? Each block then has 16 bytes before what
    /// Python asked for.
    bool debug_hooks() const { return debug_hooks_; }
    void set_debug_hooks(bool on) { debug_hooks_ = on; }
    /// With the hooks on: what was asked for from the raw block at `raw`; nothing where their mark is not
    /// there.
    std::optional<Block> behind_debug_mark(const Block& raw) const;
    /// The allocated block that starts at `start`, behind the hooks' mark where they are on.
    std::optional<Block> block_starting_at(Address start) const;
    /// Bytes of the block that starts at `start`, for a request of `requested` bytes: what the allocator
    /// handed out; 0 in a module's static data; `requested` rounded up to 16 where no allocator that is known
    /// has it.
    std::uint64_t bytes_of(Address start, std::uint64_t requested) const {
        return held(start, requested).bytes;
    }
    /// The same, and whether `requested` bytes can be there at all: no more than the block has (`slack` bytes
    /// more are let pass), and no more than is mapped without a gap. Where they cannot, `bytes` is what can.
    struct Held {
        std::uint64_t bytes = 0;
        bool whole = true;
    };
    Held held(Address start, std::uint64_t requested, std::uint64_t slack = 0) const;
    /// All memory of the process: no size can be more.
    std::uint64_t mapped_bytes() const { return memory_->total_bytes(); }
    /// A module's data, its .bss included.
    bool is_static(Address address) const;
    /// Is `at` inside a block that is in use: pymalloc's, or a chunk of a heap of malloc that was walked? In
    /// other memory that is no module's data: true, for it cannot be told.
    bool in_allocated_block(Address at) const;

private:
    std::optional<Block> raw_block_starting_at(Address start) const;
    const Allocator* other_at(Address address) const;

    const AddressSpace* memory_;
    Pymalloc pymalloc_;
    MallocHeaps heaps_;
    struct Other {
        std::unique_ptr<const Allocator> allocator;
        std::vector<AddressRange> ranges;  // its own; sorted
    };
    std::vector<Other> others_;
    bool debug_hooks_ = false;
    std::vector<AddressRange> images_;  // of modules, sorted, no overlaps
};

}  // namespace heapsift
