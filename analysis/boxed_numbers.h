#pragma once

// Lists and tuples of numbers: each number is an object, where an array needs eight bytes; of bools a pointer each,
// where it needs one byte.

#include "analysis/holding/heap_graph.h"

#include <cstdint>
#include <optional>

namespace heapsift {

inline constexpr std::uint64_t fewest_boxed_numbers = 1000;

struct BoxedNumbers {
    enum class Kind : std::uint8_t { floats, ints, bools } kind = Kind::ints;
    std::uint64_t count = 0;
    std::uint64_t now = 0;     // bytes of the list and of the numbers that it alone holds
    std::uint64_t needed = 0;  // of an array.array
    std::uint64_t saves() const { return now - needed; }
};

/// Of a list or tuple with at least `fewest_boxed_numbers` items, all of them float, all of them bool, or all of them
/// int of at most 64 bits; nothing if an array would not be smaller. Reads each item's count: some 10 ns.
std::optional<BoxedNumbers> boxed_numbers(const HeapGraph& graph, ObjectId list);

}  // namespace heapsift
