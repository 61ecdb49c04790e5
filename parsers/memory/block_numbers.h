#pragma once

// Numbers for malloc's blocks in use, so that facts about each can stand in an array.

#include "parsers/memory/malloc_heaps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

/// Refers to the heaps. Four bytes for each KiB of them.
class BlockNumbers {
public:
    /// Throws Error ("too-large", exit 1) if there are more blocks than can be numbered.
    explicit BlockNumbers(const MallocHeaps& heaps);

    /// How many there are.
    std::uint32_t size() const { return size_; }
    struct Block {
        std::uint32_t number;
        Address start;
        std::uint64_t bytes;
    };
    /// The block in use that holds `address`: in a walked heap, or with its own mapping. Cost: some 3 ns where
    /// there is no heap near, else a look back over the heap's bits.
    std::optional<Block> find(Address address) const;

private:
    static std::size_t granule(Address a) { return (a.value >> 20) % granules; }
    static constexpr std::size_t granules = 1 << 16;

    const MallocHeaps& heaps_;
    std::vector<std::uint8_t> near_;  // by the MiB of an address: malloc has some of one that is counted here
    std::vector<std::vector<std::uint32_t>>
        before_;  // for each heap, the blocks before each word of its bits
    std::uint32_t mapped_from_ = 0, size_ = 0;
};

}  // namespace heapsift
