#pragma once

// The garbage collector's lists: doubly linked rings through the headers before the objects, one a generation, with their heads
// in the interpreter's state. Source: gcmodule.c, pycore_gc.h of 3.9 to 3.13: the low two bits of both links are flags.

#include "parsers/cpython/runtime.h"

#include <vector>

namespace heapsift {

inline constexpr std::uint64_t collector_link_bits = ~std::uint64_t{3};  // of a link: the address
inline constexpr std::uint64_t collector_finalized = 1;                  // of the link back: the finalizer has run
inline constexpr std::int8_t frozen_generation = 3;                      // what gc.freeze() put aside

struct CollectorList {
    Address head;
    std::int8_t generation = 0;  // 0, 1, 2, or `frozen_generation`
};

/// The lists of all interpreters. None where the layout does not say where they are.
std::vector<CollectorList> collector_lists(const PythonRuntime& python);

/// Calls `visit` with the address of each object of the list at `head`, as long as the links of neighbours agree; where they do
/// not, the list is also walked from its other end, so that one torn link costs one object and not a generation (some may be met
/// twice). At most `most` steps each way. False where it breaks off. Cost: a cache miss an object where the heap is old.
template <class Visit>
bool walk_collector_list(const AddressSpace& memory, const gc_head_layout& header, Address head, std::uint64_t most,
                         Visit&& visit) {
    const auto link = [&](Address node, std::uint32_t offset) {
        return Address(memory.read_address(node + offset).value_or(Address()).value & collector_link_bits);
    };
    const auto one_way = [&](std::uint32_t onward, std::uint32_t back) {
        Address previous = head;
        Address node = link(head, onward);
        for (std::uint64_t steps = 0; node != head; ++steps) {
            if (node.is_null() || steps > most || link(node, back) != previous) return false;
            visit(node + *header.size);
            previous = node;
            node = link(node, onward);
        }
        return true;
    };
    if (one_way(*header.next, *header.prev)) return true;
    one_way(*header.prev, *header.next);
    return false;
}

}  // namespace heapsift
