#pragma once

// One NumPy array as every command shows it (ARRAY of the contract, without what an object has).

#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Is it an ndarray, or of a class derived from it?
bool is_array(const HeapSnapshot& heap, ObjectId object);

/// What an ndarray says of its elements; a field is nothing where it does not read.
struct ArrayRow {
    Address address;
    std::optional<std::string> dtype;  // dtype.str
    std::optional<std::vector<std::int64_t>> shape, strides;
    std::optional<std::uint64_t> nbytes;
    std::optional<Address> data;
    std::optional<bool> owns_data;
    std::optional<Address> base;   // nothing where it has none
    std::optional<Address> owner;  // the object whose buffer it shows; nothing where that is unknown
};

/// `array`: one for which `is_array` holds.
ArrayRow array_row(const HeapReader& heap, ObjectId array);

}  // namespace heapsift
