#pragma once

// Fills the map of who owns which memory from what was found in a core. (How: regions.cpp.)

#include "parsers/memory/region_map.h"
#include "parsers/snapshot/memory_rows.h"
#include "parsers/snapshot/owned_memory.h"

#include <cstdint>

namespace heapsift {

struct Regions {
    MemoryShares shares;         // adds up to the mapped bytes
    std::uint64_t overlaps = 0;  // claims that cannot all be true: of two objects on one block, for example
};

/// `owned`: as found by `measure_objects`. Cost: about 5 ns per block of an allocator.
Regions map_regions(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned);
/// The same for people: fewer rows, named in words.
MemoryRows memory_rows(const Regions& regions);

}  // namespace heapsift
