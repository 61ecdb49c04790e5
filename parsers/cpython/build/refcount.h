#pragma once

// The reference count of an object: where it is and how wide, and which counts count nothing.
//
// Up to 3.13 a build with the GIL has one word of eight bytes (Py_ssize_t ob_refcnt) at the start of the
// object. Since 3.12 an object whose lower half, read as signed, is negative is immortal (object.h,
// _Py_IsImmortal): its count is never changed. Another build (free-threaded: two counts, and whose) is
// another answer here.

#include "parsers/cpython/python_heap.h"

#include <cstring>

namespace heapsift {

/// The count as it stands there; 0 where it cannot be read.
inline std::uint64_t count_of(const PythonHeap& heap, Address object) {
    return heap.integer<std::uint64_t>(object + *heap.layout().object.ob_refcnt);
}

/// The same in an object that lies in `bytes`, as far as that word and longer.
inline std::uint64_t count_of(const Layout& layout, const std::byte* bytes) {
    std::uint64_t count = 0;
    std::memcpy(&count, bytes + *layout.object.ob_refcnt, sizeof(count));
    return count;
}

/// Does an object with this count live for ever?
inline bool is_immortal_count(const Layout& layout, std::uint64_t count) {
    return since(12).contain(layout.version) &&
           static_cast<std::int32_t>(static_cast<std::uint32_t>(count)) < 0;
}

}  // namespace heapsift
