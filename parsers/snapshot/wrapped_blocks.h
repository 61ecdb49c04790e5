#pragma once

// Entries of tables that lead from a C++ object to its Python object, and own neither. (How they are told:
// wrapped_blocks.cpp.)

#include "parsers/base/address.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

class WrappedBlocks {
public:
    /// The object at `wrapper` has this pointer among its own words.
    void add(Address pointer, Address wrapper) { all_.emplace_back(pointer, wrapper); }
    /// Once, after all were added.
    void finish();

    /// Whether the word at `index` of `bytes`, in words of 8 bytes, stands beside the address of an object that has the
    /// same pointer. Cost: a binary search for each of its two neighbours that is not null.
    bool is_entry(std::span<const std::byte> bytes, std::size_t index, Address word) const;

private:
    std::vector<std::pair<Address, Address>> all_;  // (pointer, wrapper); sorted
};

}  // namespace heapsift
