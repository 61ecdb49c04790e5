#pragma once

// The garbage collector's lists: a doubly linked ring for each generation, through the headers before the
// objects; the heads are in the interpreter's state. Source: gcmodule.c, pycore_gc.h of 3.8 to 3.13. The low
// two bits of both links are flags, and an object in no list has no links.
//
// Up to 3.7 (objimpl.h) the header has a third word, gc_refs, and the links are plain at all times. An object in
// no list may have any links; gc_refs, whose lowest bit is a flag, then is -2. (-3: in a list; from 0 on: how many
// references remain, while the collector looks for garbage.) In 2.7, where no finalizer runs in garbage, it has no
// flag.
//
// While the collector looks for garbage (update_refs to move_unreachable), the back link of what it examines
// holds the number of remaining references instead, above the flag `collector_counts`. The forward links are
// whole at all times. What it considers unreachable it moves to another ring, whose head is on its stack.

#include "parsers/cpython/runtime.h"

#include <vector>

namespace heapsift {

inline constexpr std::uint64_t collector_link_bits = ~std::uint64_t{3};  // of a link: the address
// in the back link, or in gc_refs: the finalizer has run
inline constexpr std::uint64_t collector_finalized = 1;
inline constexpr std::uint64_t collector_counts = 2;  // in the back link: it may be a count
inline constexpr std::int8_t frozen_generation = 3;   // what gc.freeze() put aside

/// Whether a header says that its object is in a list. `word` reads one word of the header.
template <class Word>
bool header_is_tracked(const Layout& layout, Word&& word) {
    constexpr std::int64_t untracked = -2;  // _PyGC_REFS_UNTRACKED
    const gc_head_layout& header = layout.gc_head;
    if (header.refs.present()) {
        const int flags = is_python_2(layout.version) ? 0 : 1;
        return static_cast<std::int64_t>(word(*header.refs)) >> flags != untracked;
    }
    return word(*header.next) != 0;
}

/// Whether the finalizer of a tracked object has run.
template <class Word>
bool header_is_finalized(const Layout& layout, Word&& word) {
    const gc_head_layout& header = layout.gc_head;
    if (is_python_2(layout.version)) return false;
    return (word(header.refs.present() ? *header.refs : *header.prev) & collector_finalized) != 0;
}

struct CollectorList {
    Address head;
    std::int8_t generation = 0;  // 0, 1, 2, or `frozen_generation`
    bool collecting = false;     // its interpreter was collecting
};

/// The lists of all interpreters, which share them up to 3.8. None if the layout does not say where they are, and in
/// free-threaded builds, whose collector visits the blocks of its allocator (gc_free_threading.c).
std::vector<CollectorList> collector_lists(const PythonRuntime& python);

/// Whether the back link of the header at `node` is a count that its object can have. (For an object that was
/// released once too often it is below 0.)
inline bool holds_collector_count(const AddressSpace& memory, const gc_head_layout& header, Address node) {
    const auto word = memory.read<std::int64_t>(node + *header.prev);
    const auto refcount = memory.read<std::int64_t>(node + *header.size);
    // Above 2^48 there may be flags of the object (refcount.h).
    const std::int64_t count = refcount.value_or(0) & 0xffffffffffff;
    return word && (static_cast<std::uint64_t>(*word) & collector_counts) && count > 0 &&
           count <= 0xffffffff && *word >> 2 <= count;
}

/// Calls `visit` with the address of each object of `list` while the links of neighbours agree, or the
/// collector was at work and keeps a count in the back link. Where they do not agree, the list is also walked
/// from its other end, so that one torn link costs one object and not a generation (some may be visited
/// twice). At most `most` steps each way. False if the list breaks off. Cost: a cache miss an object if the
/// heap is old.
template <class Visit>
bool walk_collector_list(const AddressSpace& memory, const gc_head_layout& header, const CollectorList& list,
                         std::uint64_t most, Visit&& visit) {
    const Address head = list.head;
    const auto link = [&](Address node, std::uint32_t offset) {
        return Address(memory.read_address(node + offset).value_or(Address()).value & collector_link_bits);
    };
    const auto one_way = [&](std::uint32_t onward, std::uint32_t back) {
        Address previous = head;
        Address node = link(head, onward);
        Address mark = head;  // Brent's: a damaged list of one-way links may lead into itself
        for (std::uint64_t steps = 0; node != head; ++steps) {
            if (node.is_null() || steps > most || node == mark) return false;
            if (link(node, back) != previous &&
                !(list.collecting && holds_collector_count(memory, header, node)))
                return false;
            if ((steps & (steps - 1)) == 0) mark = node;
            visit(node + *header.size);
            previous = node;
            node = link(node, onward);
        }
        return true;
    };
    if (one_way(*header.next, *header.prev)) return true;
    one_way(*header.prev, *header.next);
    return false;
}

}  // namespace heapsift
