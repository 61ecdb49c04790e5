#pragma once

// One NumPy array as every command shows it (ARRAY of the contract, without the members of OBJECT).

#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// True for an ndarray and for instances of its subclasses.
bool is_array(const HeapSnapshot& heap, ObjectId object);

/// What an ndarray says about its elements; a field that cannot be read is empty.
struct ArrayRow {
    Address address;
    std::optional<std::string> dtype;  // dtype.str
    std::optional<std::vector<std::int64_t>> shape, strides;
    std::optional<std::uint64_t> nbytes;
    std::optional<Address> data;
    std::optional<bool> owns_data;
    std::optional<Address> base;   // nothing if it has none
    std::optional<Address> owner;  // the object whose buffer it shows; nothing if not known
};

/// `is_array(array)` must be true.
ArrayRow array_row(const HeapReader& heap, ObjectId array);

}  // namespace heapsift
