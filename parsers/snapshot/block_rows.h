#pragma once

// The table of C code's blocks, once it is known from where each of them is reached.

#include "parsers/base/compact_column.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/native_graph.h"

#include <cstdint>
#include <limits>
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

/// Where a way begins. Blocks are labelled with an index into a list of these.
struct WayToBlocks {
    ReachedFrom from = ReachedFrom::nothing;
    TypeId type = no_type;
    Address word;
};
inline constexpr std::uint32_t owned_block = 0;  // the label of blocks that are an object's
inline constexpr std::uint32_t not_reached = std::numeric_limits<std::uint32_t>::max();

/// `labels`: by block number.
NativeBlocks block_rows(const CoreFile& core, const BlockNumbers& numbers,
                        const std::vector<std::uint32_t>& labels, const std::vector<WayToBlocks>& ways);

}  // namespace heapsift
