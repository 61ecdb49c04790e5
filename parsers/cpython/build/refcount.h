#pragma once

// The reference count of an object: where it is, how wide, and which counts are not counts.
//
// Up to 3.13 a build with the GIL has one word of eight bytes (Py_ssize_t ob_refcnt) at the start of the
// object. Since 3.12 an object is immortal if the lower half of that word, read as signed, is negative
// (object.h, _Py_IsImmortal): its count never changes. Other builds (free-threaded ones have two counts and
// an owner) are to be added here.

#include "parsers/cpython/python_heap.h"

#include <cstring>

namespace heapsift {

/// The count as stored; 0 if it cannot be read.
inline std::uint64_t count_of(const PythonHeap& heap, Address object) {
    return heap.integer<std::uint64_t>(object + *heap.layout().object.ob_refcnt);
}

/// The same for an object in `bytes`, which must reach to the end of that word.
inline std::uint64_t count_of(const Layout& layout, const std::byte* bytes) {
    std::uint64_t count = 0;
    std::memcpy(&count, bytes + *layout.object.ob_refcnt, sizeof(count));
    return count;
}

/// Whether an object with this count is immortal.
inline bool is_immortal_count(const Layout& layout, std::uint64_t count) {
    return since(12).contain(layout.version) &&
           static_cast<std::int32_t>(static_cast<std::uint32_t>(count)) < 0;
}

}  // namespace heapsift
