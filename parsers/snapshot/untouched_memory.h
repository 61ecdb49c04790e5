#pragma once

// Memory that a process had reserved, and never used. (How it is told: untouched_memory.cpp.)

#include "parsers/elf/core_file.h"

#include <vector>

namespace heapsift {

/// Both sorted, without overlaps.
struct UntouchedMemory {
    /// Certain: no page was ever there, whoever it belongs to.
    std::vector<AddressRange> never;
    /// Whole pages of zeros, of which the core does not tell whether they were there. Where an allocator has
    /// handed them out, they may be data.
    std::vector<AddressRange> zeros;
};

/// Cost: a look at the segments and the holes of the file; of a core without holes, at the first words of each
/// page that can be written.
UntouchedMemory untouched_memory(const CoreFile& core);

}  // namespace heapsift
