#pragma once

// The reference count of an object: where it is, how wide, and which counts are not counts.
//
// Up to 3.13 a build with the GIL has one word of eight bytes (Py_ssize_t ob_refcnt) at the start of the
// object. 3.14 and later use four; above them two bytes stay 0 (ob_overflow), and two are flags of the object
// (ob_flags: 1 immortal, 4 allocated statically). A block on one of their free lists begins with the address
// of the next one instead. Since 3.12 an object is immortal if the lower half of that word, read as signed,
// is negative (object.h, _Py_IsImmortal): its count never changes.
//
// Free-threaded builds have two counts: ob_ref_local, of the thread that owns the object, and ob_ref_shared, of
// all others, above two bits of state. The sum is the count; the first alone can be below or above it. An object
// is immortal if all bits of the first are set. Where layouts have ob_refcnt, theirs have ob_ref_local. Of an object
// whose count is deferred (modules, their functions and code: frames do not count what they run) one reference is
// the collector's own, so that only the collector frees it (3.13, object.c: _PyObject_SetDeferredRefcount).

#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/python_heap.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace heapsift {

/// The count in the first word of an object; 0 if a part is set that no object has.
inline std::uint64_t count_in_word(const Layout& layout, std::uint64_t word) {
    if (!since(14).contain(layout.version)) return word;
    return word & std::uint64_t{0xffff} << 32 ? 0 : word & 0xffffffff;
}

/// Whether an object has two counts.
inline bool has_two_counts(const Layout& layout) { return layout.object.ob_ref_shared.present(); }

/// The sum of two counts; 0 if it is below 0. (object.h, Py_REFCNT)
inline std::uint64_t sum_of_counts(std::uint32_t local, std::int64_t shared) {
    constexpr std::uint32_t immortal = 0xffffffff;
    constexpr int state_bits = 2;
    if (local == immortal) return immortal;
    const std::int64_t sum = local + (shared >> state_bits);
    return sum < 0 ? 0 : static_cast<std::uint64_t>(sum);
}

/// The count as stored; 0 if it cannot be read.
inline std::uint64_t count_of(const PythonHeap& heap, Address object) {
    if (has_two_counts(heap.layout()))
        return sum_of_counts(heap.integer<std::uint32_t>(object + *heap.layout().object.ob_refcnt),
                             heap.integer<std::int64_t>(object + *heap.layout().object.ob_ref_shared));
    return count_in_word(heap.layout(),
                         heap.integer<std::uint64_t>(object + *heap.layout().object.ob_refcnt));
}

/// How many references it counts: the same, less that of the collector itself. 0 then is garbage, and still an object.
inline std::uint64_t references_counted(const PythonHeap& heap, Address object) {
    const std::uint64_t count = count_of(heap, object);
    if (!has_two_counts(heap.layout()) || count == 0 || count == 0xffffffff) return count;
    const auto bits = heap.integer<std::uint8_t>(object + *heap.layout().object.ob_gc_bits);
    return bits & gc_bit_deferred ? count - 1 : count;
}

/// The same as count_of for an object in `bytes`, which must reach to the end of its header.
inline std::uint64_t count_of(const Layout& layout, const std::byte* bytes) {
    if (has_two_counts(layout)) {
        std::uint32_t local = 0;
        std::int64_t shared = 0;
        std::memcpy(&local, bytes + *layout.object.ob_refcnt, sizeof(local));
        std::memcpy(&shared, bytes + *layout.object.ob_ref_shared, sizeof(shared));
        return sum_of_counts(local, shared);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + *layout.object.ob_refcnt, sizeof(word));
    return count_in_word(layout, word);
}

/// The same where the bytes from the object on are at hand, as many as there are.
inline std::uint64_t count_of(const PythonHeap& heap, Address object, std::span<const std::byte> bytes) {
    const object_layout& l = heap.layout().object;
    const std::size_t end = std::size_t{8} + std::max(*l.ob_refcnt, l.ob_ref_shared.or_else(0));
    return bytes.size() >= end ? count_of(heap.layout(), bytes.data()) : count_of(heap, object);
}

/// Whether an object with this count is immortal.
inline bool is_immortal_count(const Layout& layout, std::uint64_t count) {
    return since(12).contain(layout.version) &&
           static_cast<std::int32_t>(static_cast<std::uint32_t>(count)) < 0;
}

/// Whether what reads as a dict's table is one that is kept for reuse: its count is 0, or since 3.14 the address of
/// the next one. (Of those only tables of the smallest size are kept, for keys that are str: dictobject.c, free_keys_object.
/// Any pointer is such an address.)
inline bool is_unused_table(const Layout& layout, const DictFacts& table) {
    constexpr std::uint64_t smallest = 5;  // entries, of 8 places
    if (table.keys_refcount == 0) return true;
    return since(14).contain(layout.version) && table.keys_refcount > 0xffffffff && table.unicode_keys &&
           table.capacity == smallest;
}

/// Whether a dict's table with this count is never freed (3.14, dictobject.c: _Py_DICT_IMMORTAL_INITIAL_REFCNT).
inline bool is_immortal_table_count(const Layout& layout, std::int64_t count) {
    return since(14).contain(layout.version) && count < 0;
}

}  // namespace heapsift
