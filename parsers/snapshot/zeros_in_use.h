#pragma once

// Pages of zeros in memory that counts as in use. (Why they are in doubt: zeros_in_use.cpp.)

#include "parsers/elf/core_file.h"
#include "parsers/snapshot/memory_rows.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// Bytes, whole pages; 0 where the core tells what was touched. `mappings`: MemoryRows::mappings.
/// Cost: that of `untouched_memory`.
std::uint64_t zeros_in_use(const CoreFile& core, const std::vector<MappingRow>& mappings);

}  // namespace heapsift
