#pragma once

// Blocks that malloc gave mappings of their own: large ones (malloc.c, mmap_threshold).

#include "parsers/elf/address_space.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

struct MappedChunk {
    AddressRange pages;        // all that was mapped for it
    Address start;             // what malloc returned
    std::uint64_t usable = 0;  // malloc_usable_size, bytes
};

/// The chunks with their own mappings in writable anonymous memory outside `others` (sorted, no overlaps): what
/// their headers say, page by page, each behind the last. Up to glibc 2.43. Cost: a look at the first words of
/// each page that is in no such chunk.
std::vector<MappedChunk> find_mapped_chunks(const AddressSpace& memory, std::span<const AddressRange> others);

}  // namespace heapsift
