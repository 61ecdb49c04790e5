#pragma once

// Numbers for blocks in use, so that facts about each can stand in an array: malloc's, those of other allocators, and
// others that are given.

#include "parsers/memory/malloc_heaps.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// Refers to the heaps. Four bytes for each KiB of them.
class BlockNumbers {
public:
    /// Throws Error ("too-large", exit 1) if there are more blocks than can be numbered.
    /// `others`: blocks that C code did not ask for, by address, without overlaps. `added`: the same of allocators
    /// besides malloc, which count as malloc's with their own mappings do. 16 bytes for each of both.
    explicit BlockNumbers(const MallocHeaps& heaps, std::vector<AddressRange> others = {},
                          std::vector<AddressRange> added = {});
    BlockNumbers(const BlockNumbers&) = delete;  // look-ups refer to it
    BlockNumbers& operator=(const BlockNumbers&) = delete;

    /// How many there are.
    std::uint32_t size() const { return size_; }
    /// The first of blocks that lie in none of malloc's heaps, and of the others.
    std::uint32_t first_apart() const { return apart_from_; }
    std::uint32_t first_other() const { return others_from_; }
    struct Block {
        std::uint32_t number;
        Address start;
        std::uint64_t bytes;
    };
    /// visit(block) for each, by number: some 10 ns. Blocks of the heaps come first, by address, then those with
    /// their own mappings and the added ones, by address, and then the others.
    template <class F>
    void visit(F&& visit) const;
    /// The same of the others alone.
    template <class F>
    void visit_others(F&& visit) const {
        std::uint32_t number = others_from_;
        for (const AddressRange& other : others_) visit(Block{number++, other.start, other.size()});
    }

    /// Finds blocks, and remembers what was found last: one for each thread. Some 24 KiB.
    class Lookup {
    public:
        explicit Lookup(const BlockNumbers& numbers) : numbers_(&numbers) {}

        /// The block in use that holds `address`: in a walked heap, with its own mapping, added, or given. Cost: some 3 ns
        /// where there is no heap near, or where the same was asked not long before, else a look back over the heap's bits.
        std::optional<Block> find(Address address) {
            if (!numbers_->near_[granule(address)]) return std::nullopt;
            Block& known = found_[(address.value >> 10) % found_.size()];
            if (address - known.start < known.bytes) return known;
            const std::optional<Block> block = numbers_->find_near(address, last_);
            if (block) known = *block;
            return block;
        }

    private:
        const BlockNumbers* numbers_;
        const MallocHeaps::Heap* last_ = nullptr;  // the heap of the address that was asked last
        /// By the KiB of the address: many words lead to the same few (each instance's to its class), and those of a large
        /// block into itself.
        std::array<Block, 1024> found_{};
    };
    /// The same by a look-up of its own. Not thread-safe.
    std::optional<Block> find(Address address) const { return own_.find(address); }

private:
    static constexpr std::uint64_t flag_bits = 7, header = 8;  // of a chunk: its size word
    static std::uint64_t usable(const MallocHeaps::Heap& heap, std::uint64_t offset) {
        std::uint64_t size = 0;
        std::memcpy(&size, heap.data + offset - header, sizeof size);
        return (size & ~flag_bits) - header;  // the heap was walked: it is there, and can be right
    }
    std::optional<Block> find_near(Address address, const MallocHeaps::Heap*& last) const;
    static std::size_t granule(Address a) { return (a.value >> 20) % granules; }
    static constexpr std::size_t granules = 1 << 16;

    /// Some pages, among them all those that hold one of the others: a bit for each, how many there are before each 64, and
    /// which of the others may be there.
    static std::size_t page(Address a) { return (a.value >> 12) % pages; }
    static constexpr std::size_t pages = 1 << 20;

    /// Of a list of blocks: those from the first one to the end that have something in a piece of memory, with others between.
    struct Some {
        std::uint32_t first = std::numeric_limits<std::uint32_t>::max(), end = 0;
        void add(std::size_t index);
        /// The index of the one that holds `address`.
        std::optional<std::uint32_t> find(const std::vector<AddressRange>& blocks, Address address) const;
    };
    void note_other_pages();
    /// A bit for each 16 bytes of a page.
    static unsigned unit(Address a) { return (a.value >> 4) % 256; }
    /// In others_of_page_.
    std::optional<std::uint32_t> number_of_other_page(std::size_t page) const;

    const MallocHeaps& heaps_;
    std::vector<AddressRange> apart_;  // with their own mappings, and added; by address
    std::vector<Some> apart_near_;     // by the MiB of an address: which of them may be there
    std::vector<AddressRange> others_;
    std::vector<std::uint64_t> other_pages_;
    std::vector<std::uint32_t> other_pages_before_;
    std::vector<Some> others_of_page_;
    /// Of these pages, what the others cover, in units: most words that lead there are objects' addresses.
    std::vector<std::array<std::uint64_t, 4>> other_units_;
    enum Near : std::uint8_t { near_heap = 1, near_apart = 2, near_other = 4 };
    std::vector<std::uint8_t> near_;  // by the MiB of an address: what of it may be there
    std::vector<std::vector<std::uint32_t>>
        before_;  // for each heap, the blocks before each word of its bits
    mutable Lookup own_{*this};
    std::uint32_t apart_from_ = 0, others_from_ = 0, size_ = 0;
};

template <class F>
void BlockNumbers::visit(F&& visit) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < heaps_.heaps().size(); ++i) {
        const MallocHeaps::Heap& heap = heaps_.heaps()[i];
        const std::span<const std::uint64_t> bits = heaps_.in_use_bits(i);
        for (std::size_t word = 0; word < bits.size(); ++word)
            for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
                const std::uint64_t offset = 16 * (64 * word + static_cast<unsigned>(std::countr_zero(left)));
                visit(Block{number++, heap.range.start + offset, usable(heap, offset)});
            }
    }
    for (const AddressRange& block : apart_) visit(Block{number++, block.start, block.size()});
    visit_others(visit);
}

}  // namespace heapsift
