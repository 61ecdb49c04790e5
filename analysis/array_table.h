#pragma once

// NumPy arrays by who owns their bytes. (What counts as an owner, and as kept by views alone:
// array_table.cpp.)

#include "analysis/holding/heap_graph.h"
#include "analysis/seen_bytes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// An ndarray, or a numpy.void that shows an element of one.
struct SeenArray {
    ObjectId object = no_object;
    std::uint32_t owner = 0;    // a place in ArrayTable::owners
    std::uint64_t nbytes = 0;   // ndarray.nbytes
    bool is_scalar = false;     // a numpy.void
    bool owns_bytes = false;    // it is the owner
    bool held_by_base = false;  // nothing holds it but arrays whose `base` it is
};

/// Who owns the bytes that arrays show.
struct ArrayOwner {
    ObjectId object = no_object;   // nothing: native memory that no object stands for
    ObjectId lent_to = no_object;  // of native memory: the array that was given it
    ByteRange bytes;               // its elements, or its buffer
    // false: of an exporter whose size is not read, and of native memory: what its arrays show
    bool size_known = true;
    bool saved = true;  // false: some of the bytes are not in the core
    std::uint32_t first = 0,
                  count = 0;  // its arrays: places in ArrayTable::of_owners; the owner itself is among them
    std::uint32_t views = 0;  // of these, all but the owner
    bool kept_by_views = false;  // nothing but views keeps it alive
    bool garbage = false;        // no root reaches it
    bool visible_exact = true;   // false: visible_bytes or less
    // that an array shows which something other than a base holds; each byte once
    std::uint64_t visible_bytes = 0;
    std::uint64_t nbytes() const { return bytes.size(); }
    std::uint64_t unseen_bytes() const { return nbytes() - visible_bytes; }
    /// Kept by views alone, of which some are in use, and which do not show all of it.
    bool pinned() const { return kept_by_views && !garbage && unseen_bytes() > 0; }
};

/// Sums over owners.
struct ArraySums {
    std::uint64_t arrays = 0, views = 0;  // ndarrays; of these, those that own nothing
    std::uint64_t view_bytes = 0;         // nbytes of views, summed: what several show counts again
    std::uint64_t scalars = 0;            // numpy.void objects that keep an array
    std::uint64_t owners = 0, owned_bytes = 0;
    std::uint64_t array_owners = 0, array_owned_bytes = 0;  // of these, arrays that own their elements
    std::uint64_t native_owners = 0, native_bytes = 0;      // and native memory
    std::uint64_t not_saved = 0, not_saved_bytes = 0;       // owners some of whose bytes are not in the core
    std::uint64_t garbage = 0, garbage_bytes = 0;           // owners that no root reaches
    std::uint64_t kept_by_views = 0;                        // owners
    std::uint64_t pinned = 0, pinned_bytes = 0, pinned_visible = 0,
                  pinned_views = 0;  // owners, their bytes, seen; arrays
    std::uint64_t unread = 0;        // arrays whose fields do not read: in no other number
};

/// All arrays of a heap; empty where there is no NumPy.
struct ArrayTable {
    std::vector<SeenArray> arrays;         // by object
    std::vector<ArrayOwner> owners;        // by the first array that led to them
    std::vector<std::uint32_t> of_owners;  // places in `arrays`, those of one owner together, by object
    ArraySums sums;

    std::span<const std::uint32_t> of_owner(const ArrayOwner& owner) const {
        return std::span(of_owners).subspan(owner.first, owner.count);
    }
    /// The owner in whose arrays `object` is, or that it is itself; null for none. Logarithmic for an array.
    const ArrayOwner* owner_of(ObjectId object) const;
};

/// It has the references of the heap computed. Nothing but a look at the types where there is no NumPy; else
/// one walk over the graph, and some 500 ns an array. `like_bases`: other references by which a slice keeps
/// what it was cut from, source and target; one of a source.
ArrayTable array_table(const HeapGraph& graph,
                       const std::vector<std::pair<ObjectId, ObjectId>>& like_bases = {},
                       const ProgressCallback& progress = {});

/// Bytes of an owner that some of its arrays show together; each once. `places`: in `ArrayTable::arrays`.
std::uint64_t shown_bytes(const HeapReader& heap, const ArrayTable& table, const ArrayOwner& owner,
                          std::span<const std::uint32_t> places);

}  // namespace heapsift
