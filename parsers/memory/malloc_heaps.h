#pragma once

// glibc malloc, as far as is needed to tell a block in use from stale memory. (malloc_heaps.cpp explains
// chunks.)

#include "parsers/base/stored.h"
#include "parsers/elf/address_space.h"
#include "parsers/memory/allocator.h"
#include "parsers/memory/malloc_state.h"
#include "parsers/memory/mapped_chunks.h"
#include "parsers/memory/nonzero_words.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace heapsift {

struct MallocBlock {
    Address start;             // what malloc returned
    std::uint64_t usable = 0;  // malloc_usable_size, bytes
    bool mmapped = false;      // it has its own mapping
};

class MallocHeaps final : public Allocator {
public:
    /// Walks every stretch of writable anonymous memory that reads as a chain of chunks from its first byte.
    /// `threads` have the caches of free blocks; `others` is memory that is not malloc's, sorted, without
    /// overlaps.
    static MallocHeaps find(const AddressSpace& memory, std::span<const CoreThread> threads = {},
                            std::span<const AddressRange> others = {});

    /// As a part of an index (parsers/index/part.h); after reading, `attach` must follow.
    template <class Self, class Part>
    static void fields(Self& self, Part& part);
    /// To the memory in which it was found. False if that is not so: the heaps are not there, or, with `whole`, a
    /// block in use has no size there. Cost, with `whole`: a look at each block.
    bool attach(const AddressSpace& memory, bool whole);

    /// The block that starts exactly at `start` and is in use. In a walked heap it is one of the chunks; if
    /// malloc's state was not found, also one that a thread's cache or a fast bin holds. Elsewhere it is a chunk
    /// whose own header and successor agree, or one with its own mapping.
    std::optional<MallocBlock> block_starting_at(Address start) const;

    /// The mapping that a chunk has to itself according to its header, whether the core has it or not.
    std::optional<AddressRange> mapping_by_header(Address start) const;

    /// Whether the word at `at`, in a walked heap, is what a fast bin leaves in the first word of a freed
    /// block: the address of the next chunk, which has the same size. Since glibc 2.32 that address is xor'ed
    /// with the link's own address without its low 12 bits. (Up to 2.31 the last link is 0, and tells
    /// nothing.)
    bool is_fast_bin_link(Address at) const;

    /// The same, or what a thread's cache leaves there. In 2.26 to 2.28 that is only the address of the next
    /// block, which has the same size. C code may have such lists of its own, so ask this only of a word that
    /// would differ in a live block.
    bool is_free_list_link(Address at) const;

    /// Whether a block of a walked heap is free although its chunk looks in use, because a thread's cache or
    /// a fast bin keeps it for the next request of its size. free() leaves a link and a key in its first two
    /// words, which tell.
    bool is_cached(const MallocBlock& block) const;

    /// The chunk in use that holds `address`, in a walked heap. Cost: that of `last_in_use`.
    std::optional<MallocBlock> block_containing(Address address) const;

    const char* name() const override { return "malloc"; }
    /// The walked heaps, and the chunks with their own mappings.
    std::vector<AddressRange> ranges() const override;
    /// Chunks held by a thread's cache or a fast bin look in use if malloc's state was not found.
    std::optional<MemoryBlock> block_at(Address address) const override;
    /// A free block is a chunk from its size word up to the next chunk's, that is, everything that is neither
    /// in use nor the header of a block in use.
    void visit_blocks(const BlockVisitor& visit) const override;

    struct Heap {
        AddressRange range;              // of chunks, with as much of the top as the core has
        std::uint64_t in_use_bytes = 0;  // chunks in use, headers included
        std::uint64_t free_bytes = 0;    // free chunks and the top
        std::uint64_t kept_bytes = 0;    // chunks that a thread's cache or a fast bin keeps, headers included
        std::uint64_t chunks = 0;
        std::uint64_t first_chunk = 0;    // offset of the first chunk's header in `range`
        const std::byte* data = nullptr;  // of `range`
        Address arena;                    // its malloc_state; null: the main one
        std::uint64_t first_word = 0;     // of its bits, among those of all heaps
    };
    const std::vector<Heap>& heaps() const { return heaps_; }
    /// Of the heap at `index`: a bit for each 16 bytes from its start on, set where a block in use starts.
    std::span<const std::uint64_t> in_use_bits(std::size_t index) const { return bits_of(heaps_[index]); }
    /// By address.
    const std::vector<MappedChunk>& mapped() const { return mapped_; }
    /// What malloc says itself.
    const MallocState& state() const { return state_; }
    /// Heaps whose chain of chunks breaks off in the middle. Memory after the break is treated as not walked.
    std::uint64_t broken_heaps() const { return broken_heaps_; }
    const Heap* heap_at(Address address) const;
    /// The start of the last block in use at or before `address`. None: nothing. Cost: some ns, and one for each 4 MiB
    /// between the two.
    std::optional<Address> last_in_use(const Heap& heap, Address address) const;

private:
    /// So many words have the bits of a heap of that size; the last one is there for whoever looks ahead.
    static std::uint64_t words_for(std::uint64_t bytes) { return bytes / 16 / 64 + 2; }
    std::span<const std::uint64_t> bits_of(const Heap& heap) const {
        return {bits_.data() + heap.first_word, words_for(heap.range.size())};
    }
    bool sizes_read(const Heap& heap) const;
    void free_kept(std::span<const Address> blocks);
    /// Calls `visit` with the chunks from `first` (an offset in the heap) on, until it returns false.
    template <class Visit>
    void visit_chunks(const Heap& heap, std::uint64_t first, Visit visit) const;
    /// Whether the first word of a block of up to `largest` bytes leads, `header` bytes before it, to another
    /// of the same size, and that one's to a third or nowhere.
    bool leads_to_equal(Address start, std::uint64_t header, std::uint64_t largest) const;

    const AddressSpace* memory_ = nullptr;
    std::uint64_t broken_heaps_ = 0;
    std::vector<Heap> heaps_;     // sorted
    Stored<std::uint64_t> bits_;  // a bit per 16 bytes of each heap, one heap after the other: a block in use
                                  // starts here
    /// Of `bits_`, made when it is first asked for: many questions to an index never do.
    struct Starts {
        std::once_flag once;
        NonzeroWords words;
    };
    const NonzeroWords& starts() const;
    std::shared_ptr<Starts> starts_ = std::make_shared<Starts>();
    std::vector<MappedChunk> mapped_;
    MallocState state_;
};

template <class Self, class Part>
void MallocHeaps::fields(Self& self, Part& part) {
    part.number(self.broken_heaps_);
    std::uint64_t words = 0;
    Address end_of_last;
    part.list(self.heaps_, [&](auto& heap, Part& p) {
        for (auto* number :
             {&heap.in_use_bytes, &heap.free_bytes, &heap.kept_bytes, &heap.chunks, &heap.first_chunk})
            p.number(*number);
        p.number(heap.range);
        p.number(heap.arena);
        p.require(end_of_last <= heap.range.start && heap.range.start < heap.range.end &&
                      heap.range.start.aligned(16) && heap.first_chunk <= heap.range.size(),
                  "malloc's heaps overlap");
        end_of_last = heap.range.end;
        if constexpr (Part::reading) heap.first_word = words;
        words += words_for(heap.range.size());
    });
    part.column(self.bits_, [](std::uint64_t) { return true; });  // attach() looks at them
    part.require(words == self.bits_.size(), "malloc's heaps have bits for other memory");
    Address end_of_mapped;
    part.list(self.mapped_, [&](auto& chunk, Part& p) {
        p.number(chunk.pages);
        p.number(chunk.start);
        p.number(chunk.usable);
        p.require(end_of_mapped <= chunk.pages.start && chunk.pages.contains(chunk.start) &&
                      chunk.usable <= chunk.pages.end - chunk.start,
                  "malloc's mappings overlap");
        end_of_mapped = chunk.pages.end;
    });
    part.list(self.state_.arenas, [](auto& arena, Part& p) {
        p.number(arena.state);
        p.number(arena.top);
        for (auto* number : {&arena.system_bytes, &arena.fast_blocks, &arena.fast_bytes}) p.number(*number);
    });
    for (auto* blocks : {&self.state_.cached, &self.state_.in_fast_bins})
        part.list(*blocks, [](auto& block, Part& p) { p.number(block); });
    part.number(self.state_.caches);
    part.number(self.state_.all_caches);
    part.number(self.state_.broken_lists);
    auto mapped = self.state_.mapped.value_or(MallocState::Mapped{});
    bool counted = self.state_.mapped.has_value();
    part.number(counted);
    part.number(mapped.blocks);
    part.number(mapped.bytes);
    if constexpr (Part::reading) {
        if (counted) self.state_.mapped = mapped;
    }
}

}  // namespace heapsift
