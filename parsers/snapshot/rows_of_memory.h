#pragma once

#include "parsers/snapshot/memory_rows.h"
#include "parsers/snapshot/regions.h"

namespace heapsift {

/// The regions of a core as rows, named in words; and what its allocators say of themselves.
MemoryRows memory_rows(const Regions& regions, const CoreFile& core, const Allocations& allocations);

}  // namespace heapsift
