#pragma once

// Facts that only the heap tells of itself, and that reading single objects needs.

#include "parsers/cpython/python_heap.h"

#include <vector>

namespace heapsift {

struct LearnedFacts {
    std::vector<ArrayItems> array_items;   // array_items.h
    std::vector<AddressRange> left_out;    // left_out_mappings.h
    std::vector<Address> interned_tables;  // learned_dicts.h
    Address general_lookup, kept_arguments;
};

}  // namespace heapsift
