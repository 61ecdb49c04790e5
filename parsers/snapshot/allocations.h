#pragma once

// Which allocator's block holds an address: pymalloc's, malloc's, or none (static data, other memory).

#include "parsers/cpython/pymalloc.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/malloc_heaps.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace heapsift {

class Allocations {
public:
    Allocations(const CoreFile& core, Pymalloc pymalloc, MallocHeaps heaps);

    const Pymalloc& pymalloc() const { return pymalloc_; }
    const MallocHeaps& malloc_heaps() const { return heaps_; }
    /// Adds an allocator besides these two. If the memory of two overlaps, a block is pymalloc's first, then
    /// an added allocator's, then malloc's; a row of memory follows the order of all().
    void add(std::unique_ptr<const Allocator> allocator);
    /// In this order: pymalloc, malloc, those that were added.
    std::vector<const Allocator*> all() const;
    /// True if a known allocator manages the memory at `address`.
    bool in_divided_memory(Address address) const {
        return pymalloc_.pool_at(address) || pymalloc_.in_arena(address) || heaps_.heap_at(address) ||
               other_at(address) != nullptr;
    }

    /// `mapping`: a mapping that malloc made for one block. `other`: an allocator that was added.
    enum class Owner : std::uint8_t { pymalloc, malloc, mapping, other, none };
    struct Block {
        Address start;
        std::uint64_t usable = 0;  // bytes that the allocator handed out
        Owner owner = Owner::none;
    };
    /// True if Python's debug hooks are on (PYTHONMALLOC=debug, -X dev). Each block then has 16 bytes before
    /// the part that Python asked for.
    bool debug_hooks() const { return debug_hooks_; }
    void set_debug_hooks(bool on) { debug_hooks_ = on; }
    /// With the hooks on: the part of the raw block `raw` that Python asked for; nothing if the hooks' mark
    /// is missing.
    std::optional<Block> behind_debug_mark(const Block& raw) const;
    /// The allocated block that starts at `start`; with the hooks on, the part behind their mark.
    std::optional<Block> block_starting_at(Address start) const;
    /// Bytes of the block that starts at `start`, for a request of `requested` bytes: what the allocator
    /// handed out; 0 in a module's static data; `requested` rounded up to 16 if no known allocator has the
    /// block.
    std::uint64_t bytes_of(Address start, std::uint64_t requested) const {
        return held(start, requested).bytes;
    }
    /// The same, and in `whole` whether `requested` bytes can be there at all: they must not exceed the block
    /// by more than `slack` bytes, nor reach into memory that is not mapped. If they do, `bytes` is the size
    /// of the block, or 0 if no block is known.
    struct Held {
        std::uint64_t bytes = 0;
        bool whole = true;
        // of `bytes`, those in front of `start`: the marks of the debug hooks; not told in pymalloc's pools
        std::uint64_t before = 0;
        const Pool* pool = nullptr;  // of pymalloc, if `start` lies in one
    };
    Held held(Address start, std::uint64_t requested, std::uint64_t slack = 0) const;
    /// All memory of the process, which no size can exceed.
    std::uint64_t mapped_bytes() const { return memory_->total_bytes(); }
    /// True in the data of a module, including its .bss.
    bool is_static(Address address) const;
    /// True if `at` lies inside a block in use: of pymalloc, of an added allocator, or a chunk of a malloc
    /// heap that was walked. Also true in other memory, where this cannot be told.
    bool in_allocated_block(Address at) const;

    /// The blocks in use of the added allocators, by address, without overlaps.
    std::vector<AddressRange> added_blocks() const;
    /// True if an allocator of that name was added.
    bool has(std::string_view name) const;
    /// True if the first word of the block that starts at `start` is the address of another block of its size
    /// and of the same added allocator, as a list of free blocks leaves it. The block may be in use again, by
    /// code that writes only some of it.
    bool begins_with_link(Address start) const;
    /// The added allocator that has the memory at `address`; null if none has.
    const Allocator* other_at(Address address) const;

private:
    std::optional<Block> raw_block_starting_at(Address start) const;

    const AddressSpace* memory_;
    Pymalloc pymalloc_;
    MallocHeaps heaps_;
    struct Other {
        std::unique_ptr<const Allocator> allocator;
        std::vector<AddressRange> ranges;  // sorted
    };
    std::vector<Other> others_;
    bool debug_hooks_ = false;
    std::vector<AddressRange> images_;  // of modules; sorted, no overlaps
};

}  // namespace heapsift
