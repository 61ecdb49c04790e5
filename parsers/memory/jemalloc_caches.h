#pragma once

// Free blocks that jemalloc's threads keep for themselves. (Where they lie: jemalloc_caches.cpp.)

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"
#include "parsers/memory/jemalloc_tree.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

struct JemallocCaches {
    struct Block {
        Address start;
        std::uint8_t size_class = 0;
    };
    std::vector<Block> blocks;    // as the caches name them: nothing of it is checked
    std::vector<Address> tables;  // an address in each table in which a cache keeps its blocks
    std::uint64_t caches = 0;
};

/// The caches of the threads, and those that belong to the same arenas. Cost: a look at 64 KiB a thread, and at the
/// blocks that they keep.
JemallocCaches find_jemalloc_caches(const AddressSpace& memory, std::span<const CoreThread> threads,
                                    JemallocVersion version);

}  // namespace heapsift
