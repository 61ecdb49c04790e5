#pragma once

// Blocks of C code: who refers to them, and which of them nobody does. (How, and what is believed:
// native_blocks.cpp.)

#include "parsers/base/progress.h"
#include "parsers/snapshot/block_rows.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/native_graph.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/owned_memory.h"
#include "parsers/snapshot/reference_graph.h"

namespace heapsift {

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
