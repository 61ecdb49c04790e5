#pragma once

// In what kinds of objects each object is held: a constant of a program's code, an item of a list, a column
// of a table.

#include "analysis/holding/heap_graph.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// Bits: what refers to an object. An object that nothing refers to, as far as was found, is `in_other`.
enum HeldIn : std::uint8_t {
    in_code =
        1,  // names, constants, defaults: of code, functions, C modules; also by tuples that only these hold
    in_dict = 2,    // keys and values
    in_list = 4,    // also a deque
    in_tuple = 8,   // also a frozenset, of which something else than code is a holder
    in_array = 16,  // a NumPy array of objects
    in_set = 32,
    in_instance = 64,  // attributes
    in_other = 128     // locals, cells, C code, other types
};
inline constexpr std::size_t held_in_bits = 8;

/// A byte for each object. Cost: one pass over all references, some nanoseconds each.
std::vector<std::uint8_t> held_in(const HeapGraph& graph, const ProgressCallback& progress = {});

/// Whether only code holds it: the compiler made it, and the program cannot do otherwise.
inline bool is_constant_of_code(std::uint8_t held) { return held == in_code; }

}  // namespace heapsift
