// pybind11 has a table of all C++ objects that Python knows (internals::registered_instances, a hash map from the C++
// object to its Python object), so that the second time Python gets the same object. It frees neither: the Python
// object does that, which has the pointer in its own body. Taken for owners like any others, the entries of that table
// would share every C++ object with its wrapper, so that no retained size had it.
//
// What such an entry looks like is the same in any library: the pointer, and beside it the Python object that has the
// same pointer. A structure that owns both would look so too; then the object keeps what is its own by its own
// pointer.
//
// Source: pybind11, include/pybind11/detail/internals.h (2.2 to 3.0).

#include "parsers/snapshot/wrapped_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heapsift {

void WrappedBlocks::finish() {
    std::sort(all_.begin(), all_.end());
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
}

bool WrappedBlocks::is_entry(std::span<const std::byte> bytes, std::size_t index, Address word) const {
    const auto is_wrapper = [&](std::size_t at) {
        std::uint64_t neighbour = 0;
        if (8 * at + 8 <= bytes.size()) std::memcpy(&neighbour, bytes.data() + 8 * at, 8);
        return neighbour != 0 &&
               std::binary_search(all_.begin(), all_.end(), std::pair(word, Address(neighbour)));
    };
    return !all_.empty() && (is_wrapper(index + 1) || (index > 0 && is_wrapper(index - 1)));
}

}  // namespace heapsift
