#pragma once

// What precedes an object in its block: the collector's header, and the words for a dict and a list of weak
// references that the interpreter manages (object.h, pycore_object.h). In free-threaded builds (since 3.13) no
// collector's header does: each object's own header has the collector's bits, and the thread that owns it.

#include "parsers/base/address.h"
#include "parsers/cpython/layout.h"
#include "parsers/cpython/type_flags.h"

namespace heapsift {

/// Whether the collector's state of an object is in the object's own header (free-threaded builds).
inline bool has_collector_bits(const Layout& layout) { return layout.object.ob_gc_bits.present(); }

/// The collector's bits of an object (pycore_gc.h, _PyGC_BITS_…).
inline constexpr std::uint8_t gc_bit_tracked = 1, gc_bit_finalized = 2, gc_bit_frozen = 8,
                              gc_bit_deferred = 64, gc_bits_unused = 128;

/// Bytes of the collector's header before an object that has one.
inline std::uint32_t collector_header_size(const Layout& layout) {
    return has_collector_bits(layout) ? 0 : *layout.gc_head.size;
}

/// The collector's header of an object that has one. Not of free-threaded builds.
inline Address collector_header(const Layout& layout, Address object) {
    return object - *layout.gc_head.size;
}

/// The flags of a type whose instances have two more words before them: a managed dict since 3.11, managed
/// weak references since 3.12 (before, that bit means something else).
inline std::uint64_t managed_flags(const Layout& layout) {
    if (since(12).contain(layout.version)) return managed_dict_flag | managed_weakref_flag;
    return since(11).contain(layout.version) ? managed_dict_flag : 0;
}

inline constexpr std::uint64_t managed_words = 16;

/// Bytes before an instance of a type with these flags. (None of this applies to an instance of a tracked
/// type that says it has no header.)
inline std::uint64_t bytes_before_instance(const Layout& layout, std::uint64_t flags) {
    const std::uint64_t header = flags & have_gc_flag ? collector_header_size(layout) : 0;
    return header + (flags & managed_flags(layout) ? managed_words : 0);
}

/// What sys.getsizeof adds for them (_PySys_GetSizeOf, _PyType_PreHeaderSize). Up to 3.10 that is the
/// collector's header if the object has one. 3.11 and 3.12 ask only the type. 3.13 leaves out static types
/// again, but only those whose metatype is `type` itself.
inline std::uint64_t counted_before_instance(const Layout& layout, std::uint64_t flags,
                                             bool object_has_header, bool is_plain_type) {
    const bool asks_object =
        until(10).contain(layout.version) || (since(13).contain(layout.version) && is_plain_type);
    const bool has_header = asks_object ? object_has_header : (flags & have_gc_flag) != 0;
    return (has_header ? collector_header_size(layout) : 0) +
           (flags & managed_flags(layout) ? managed_words : 0);
}

}  // namespace heapsift
