#pragma once

// glibc malloc, as far as one must know it to tell a block that is in use from stale memory. (Chunks:
// malloc_heaps.cpp.)

#include "parsers/elf/address_space.h"
#include "parsers/memory/allocator.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

struct MallocBlock {
    Address start;             // what malloc returned
    std::uint64_t usable = 0;  // malloc_usable_size, bytes
    bool mmapped = false;      // a mapping of its own
};

class MallocHeaps final : public Allocator {
public:
    /// Walks every stretch of writable anonymous memory that reads as a chain of chunks from its first byte
    /// on.
    static MallocHeaps find(const AddressSpace& memory);

    /// The block that starts exactly at `start` and looks in use: in a heap that was walked, one of its
    /// chunks (chunks that a thread's cache or a fast bin holds look in use too); elsewhere a chunk whose own
    /// header and successor agree, or a mapping of its own.
    std::optional<MallocBlock> block_starting_at(Address start) const;

    /// The mapping that a chunk's header says is its own, whether the core has it or not.
    std::optional<AddressRange> mapping_by_header(Address start) const;

    /// Is the word at `at`, in a walked heap, what a fast bin leaves in the first word of a freed block? The
    /// address of the next chunk, which is as large; since glibc 2.32 xor'ed with the link's own address
    /// without its low 12 bits. (Up to 2.31 the last one's is 0, and tells nothing.)
    bool is_fast_bin_link(Address at) const;

    /// Is it that, or what a thread's cache leaves there? In 2.26 to 2.28 the address of the next block, of
    /// the same size, and nothing else. C code may have such lists of its own: ask only of a word that would
    /// be something else where it is alive.
    bool is_free_list_link(Address at) const;

    /// Is a block of a walked heap free although its chunk looks in use: kept in a thread's cache or a fast
    /// bin for the next request of its size? Told by the link and the key that free() leaves in its first two
    /// words.
    bool is_cached(const MallocBlock& block) const;

    /// The chunk in use of a walked heap that holds `address`. Cost: a look back over the heap's bits, a word
    /// a KiB of the chunk.
    std::optional<MallocBlock> block_containing(Address address) const;

    const char* name() const override { return "malloc"; }
    /// The heaps that were walked. (Chunks with mappings of their own are known one by one alone.)
    std::vector<AddressRange> ranges() const override;
    /// Chunks that a thread's cache or a fast bin holds look in use.
    std::optional<MemoryBlock> block_at(Address address) const override;
    /// A free block is its chunk from the size word on, up to the next one's: all that is neither in use nor
    /// its header.
    void visit_blocks(const BlockVisitor& visit) const override;

    struct Heap {
        AddressRange range;              // of chunks, the top chunk included
        std::uint64_t in_use_bytes = 0;  // chunks in use, headers included
        std::uint64_t free_bytes = 0;    // free chunks and the top
        std::uint64_t chunks = 0;
        std::uint64_t first_chunk = 0;    // offset of the first chunk's header in `range`
        const std::byte* data = nullptr;  // of `range`
    };
    const std::vector<Heap>& heaps() const { return heaps_; }
    /// Heaps whose chain of chunks breaks off in the middle. What is behind the break is treated as memory
    /// that was not walked.
    std::uint64_t broken_heaps() const { return broken_heaps_; }
    const Heap* heap_at(Address address) const;
    /// Of the blocks in use that start at `address` or before it: where the last one starts. None: nothing.
    std::optional<Address> last_in_use(const Heap& heap, Address address) const;

private:
    /// Hands out the chunks from the one at `first` (an offset in the heap) on, until `visit` returns false.
    template <class Visit>
    void visit_chunks(const Heap& heap, std::uint64_t first, Visit visit) const;
    /// Does the first word of a block up to `largest` bytes lead, `header` bytes before it, to another of the
    /// same size, and that one's to a third or nowhere?
    bool leads_to_equal(Address start, std::uint64_t header, std::uint64_t largest) const;

    const AddressSpace* memory_ = nullptr;
    std::uint64_t broken_heaps_ = 0;
    std::vector<Heap> heaps_;  // sorted
    std::vector<std::vector<std::uint64_t>>
        chunk_bits_;  // a bit per 16 bytes of each heap: a chunk in use starts here
};

}  // namespace heapsift
