#pragma once

// Blocks of C code that are alike.

#include "parsers/base/address.h"

#include <cstdint>

namespace heapsift {

/// Blocks in use of one size that no Python object owns, as far as is known.
struct BlockGroup {
    std::uint64_t size = 0;  // bytes that the program may use of each
    Address table;  // the first word of each, if it is the address of a C++ class's virtual functions
    std::uint64_t count = 0;
    Address example;           // the last of them
    std::uint32_t label = 0;   // of who counts blocks apart (block_groups.h)
    std::uint32_t number = 0;  // of the group, in the order in which they were made
};

}  // namespace heapsift
