#pragma once

// Blocks of C code: who refers to them, and which of them nobody does. (How, and what is believed:
// native_blocks.cpp.)

#include "parsers/base/compact_column.h"
#include "parsers/base/progress.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/native_graph.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/owned_memory.h"
#include "parsers/snapshot/reference_graph.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// malloc's blocks in use of one size that no Python object owns, and that are reached from the same place.
struct NativeBlockRow {
    std::uint64_t size = 0;  // bytes that the program may use of each
    Address table;  // the first word of each, if it is the address of a C++ class's virtual functions
    Address word;   // modules: the word, of a variable, where the way begins
    std::uint64_t count = 0;
    Address example;
    ReachedFrom from = ReachedFrom::nothing;
    TypeId type = no_type;  // objects: of the object where it begins
};

struct NativeBlocks {
    std::vector<NativeBlockRow> rows;  // by group (BlockGroup::number)
    std::uint64_t count = 0;           // of all these blocks
    /// By block number (BlockNumbers), of malloc's and of those that are added: 1 and its row's place; 0: it is an
    /// object's.
    CompactColumn<std::uint16_t> row_of;
};

struct NativeMemory {
    NativeBlocks blocks;
    NativeGraph graph;  // empty if it was not asked for
};

/// Cost: 3 to 15 ns for each word of the memory that is looked at, which is looked at twice, three times with the
/// graph; 7 bytes for each of malloc's blocks, 2 of them kept, and 4 for each KiB of its heaps.
NativeMemory find_native_blocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                                const OwnedPlaces& places, const ReferenceGraph& references, bool with_graph,
                                const ProgressCallback& progress = {});

}  // namespace heapsift
