#pragma once

// Arenas of pymalloc that a few blocks keep from the kernel.

#include "parsers/base/ids.h"
#include "parsers/cpython/pymalloc.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/untouched_memory.h"

#include <cstdint>
#include <vector>

namespace heapsift {

struct SparseArenas {
    struct Type {
        TypeId type = no_type;
        std::uint32_t unused = 0;  // no padding: it is kept as it lies in memory
        std::uint64_t objects = 0;
    };
    std::uint64_t arenas = 0;      // less than a quarter full
    std::uint64_t free_bytes = 0;  // of them, as far as they were ever touched
    std::uint64_t blocks = 0;      // in use in them
    std::vector<Type> types = {};  // of the objects there, most first; three at most
};

/// Nothing if the arenas are not known. pymalloc gives an arena back when its last block is freed
/// (obmalloc.c, pymalloc_free). Cost: a look at the pools, and at the objects in those arenas.
SparseArenas find_sparse_arenas(const Pymalloc& pymalloc, const FoundObjects& objects,
                                const UntouchedMemory& untouched);

}  // namespace heapsift
