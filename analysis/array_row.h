#pragma once

// One NumPy array as every command shows it (ARRAY of the contract, without the members of OBJECT).

#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// True for an ndarray and for instances of its subclasses.
bool is_array(const HeapSnapshot& heap, ObjectId object);

/// What an ndarray or a tensor says about its elements; a field that cannot be read is empty.
struct ArrayRow {
    Address address;
    std::optional<std::string> dtype;  // dtype.str; of a tensor as torch names it: "float32"
    std::optional<std::vector<std::int64_t>> shape, strides;
    std::optional<std::uint64_t> nbytes;
    std::optional<Address> data;
    std::optional<bool> owns_data;
    std::optional<Address> base;   // nothing if it has none
    std::optional<Address> owner;  // the object whose buffer it shows; nothing if not known
};

/// `is_array(array)` or `is_tensor(array)` must be true. Strides are in bytes.
ArrayRow array_row(const HeapReader& heap, ObjectId array);

}  // namespace heapsift
