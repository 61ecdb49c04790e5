#pragma once

// Memory that a process had reserved, and never used. (How it is told: untouched_memory.cpp.)

#include "parsers/elf/core_file.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapsift {

/// Both sorted, without overlaps.
struct UntouchedMemory {
    /// Certain: no page was ever there, whoever it belongs to.
    std::vector<AddressRange> never;
    /// Whole pages of zeros, of which the core does not tell whether they were there. Where an allocator has
    /// handed them out, they may be data.
    std::vector<AddressRange> zeros;
    /// Pages that a captured core's note calls absent although the core has bytes of them other than zeros: the note is
    /// damaged, or of another core. They are in neither list.
    std::uint64_t contradicted_pages = 0;
};

/// Memory that processes share, under the names that the kernel gives it in /proc/PID/maps: it is nobody's file.
bool is_shared_memory(std::string_view path);

/// Cost: a look at the segments and the holes of the file; of a core without holes, at the first words of each
/// page that can be written; of a captured one at the bytes of the pages that it calls absent, but for holes.
UntouchedMemory untouched_memory(const CoreFile& core);

}  // namespace heapsift
