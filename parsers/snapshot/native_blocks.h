#pragma once

// Blocks of C code: who refers to them, and which of them nobody does. (How, and what is believed:
// native_blocks.cpp.)

#include "parsers/base/address.h"
#include "parsers/base/progress.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/owned_memory.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// Where the way to a block begins: the first of these from which there is one.
enum class ReachedFrom : std::uint32_t {
    objects,        // the memory of Python objects
    python_tables,  // blocks of pymalloc that are no object's
    modules,        // variables of programs and libraries
    mappings,       // memory that is no allocator's
    stacks,         // stacks and registers of threads
    numbers,        // a Python int is its address: a handle, or chance
    nothing         // leaked, as far as can be told: no word leads to it
};

/// Blocks in use of one size that no Python object owns, and that are reached from the same place.
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
    std::vector<NativeBlockRow> rows;  // in no particular order
    std::uint64_t count = 0;           // of all these blocks
};

/// Cost: 3 to 15 ns for each word of the memory that is looked at; 4 bytes for each of malloc's blocks, and 4 for
/// each KiB of its heaps.
NativeBlocks find_native_blocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                                const OwnedPlaces& places, const ProgressCallback& progress = {});

}  // namespace heapsift
