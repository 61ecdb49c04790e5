#pragma once

// Fills the map of who owns which memory from what was found in a core. (How: regions.cpp.)

#include "parsers/memory/region_map.h"
#include "parsers/snapshot/owned_memory.h"
#include "parsers/snapshot/sparse_arenas.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// What an allocator has, and whose it is.
struct AllocatorShares {
    std::string name;     // Allocator::name
    MemoryShares shares;  // of all its memory that is mapped
    std::uint64_t blocks = 0, free_blocks = 0;
    std::uint64_t trim = 0;  // AllocatorRow::trim
};

struct Regions {
    MemoryShares shares;         // adds up to the mapped bytes
    std::uint64_t overlaps = 0;  // claims that cannot all be true: of two objects on one block, for example
    std::vector<AllocatorShares> allocators;  // in the order of Allocations::all
    std::vector<AddressRange> mappings;       // by address, without overlaps
    std::vector<MemoryShares> of_mappings;    // of each
    SparseArenas sparse;
};

/// `owned`: as found by `measure_objects`. Cost: about 5 ns per block of an allocator.
Regions map_regions(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned,
                    const FoundObjects& objects);

}  // namespace heapsift
