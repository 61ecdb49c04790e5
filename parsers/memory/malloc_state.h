#pragma once

// What glibc's malloc says of itself: its arenas, and the blocks that were given back to it although their
// chunks look in use. (malloc_state.cpp says how they are found without symbols.)

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

struct MallocArena {
    Address state;  // its malloc_state
    Address top;    // the header of its top chunk
    std::uint64_t system_bytes =
        0;  // taken from the kernel and not given back: malloc_info's "system current"
    std::uint64_t fast_blocks = 0, fast_bytes = 0;  // chunks in its fast bins, headers included
};

struct MallocState {
    /// The main arena first, then as they are linked. Empty: not found, and then nothing else is known.
    std::vector<MallocArena> arenas;
    /// What malloc would return next: blocks in the threads' caches, and in fast bins. Both sorted.
    std::vector<Address> cached, in_fast_bins;
    /// Threads of the core whose cache was found. (Some threads have none: those that never asked malloc.)
    std::uint64_t caches = 0;
    bool all_caches = false;  // of each thread, so that `cached` has all that is in any
    /// Lists that break off. What was found before the break counts.
    std::uint64_t broken_lists = 0;
    /// Blocks with their own mappings, as malloc counts them: mallinfo2's hblks and hblkhd.
    struct Mapped {
        std::uint64_t blocks = 0, bytes = 0;
    };
    std::optional<Mapped> mapped;
};

/// Cost: a look at each word of the modules' writable data, and at the blocks in the lists.
MallocState find_malloc_state(const AddressSpace& memory, std::span<const CoreThread> threads);

}  // namespace heapsift
