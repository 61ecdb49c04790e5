#pragma once

// NumPy arrays and torch tensors by the owner of their bytes. (What counts as an owner, and as kept alive by views alone:
// array_table.cpp.)

#include "analysis/holding/heap_graph.h"
#include "analysis/seen_bytes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// An ndarray, a tensor, or a numpy.void that shows one element of an array.
struct SeenArray {
    ObjectId object = no_object;
    std::uint32_t owner = 0;   // an index into ArrayTable::owners
    std::uint64_t nbytes = 0;  // ndarray.nbytes, tensor.nbytes
    bool is_scalar = false;    // a numpy.void
    bool owns_bytes =
        false;  // it is the owner; a tensor: it shows all of its storage, as the first of its tensors
    bool is_tensor = false;     // of torch
    bool held_by_base = false;  // nothing but arrays whose `base` it is holds it
};

/// The owner of the bytes that some arrays show.
struct ArrayOwner {
    ObjectId object = no_object;  // nothing: native memory that no object stands for
    ObjectId lent_to =
        no_object;    // of native memory: the array that was given it; a storage: its first tensor
    Address storage;  // of torch; native memory of known size. Null for others
    ByteRange bytes;  // its elements, or its buffer
    // false for an exporter whose size is not read, and for native memory: `bytes` is then what its arrays
    // show
    bool size_known = true;
    bool saved = true;  // false: some of the bytes are not in the core
    // its arrays, the owner itself among them: a range of ArrayTable::of_owners
    std::uint32_t first = 0, count = 0;
    std::uint32_t views = 0;     // all of these but the owner
    bool kept_by_views = false;  // only views keep it alive
    bool garbage = false;        // no root reaches it
    bool visible_exact = true;   // false: visible_bytes is an upper bound
    // shown by arrays that something other than a base holds; each byte once
    std::uint64_t visible_bytes = 0;
    std::uint64_t nbytes() const { return bytes.size(); }
    std::uint64_t unseen_bytes() const { return nbytes() - visible_bytes; }
    /// Kept alive by views alone, some of them in use, which do not show all of it.
    bool pinned() const { return kept_by_views && !garbage && unseen_bytes() > 0; }
};

/// Sums over owners.
struct ArraySums {
    std::uint64_t arrays = 0, views = 0;  // ndarrays; those of them that own nothing
    std::uint64_t view_bytes = 0;         // nbytes of the views, summed: bytes that two show count twice
    std::uint64_t scalars = 0;            // numpy.void objects that keep an array alive
    std::uint64_t owners = 0, owned_bytes = 0;
    std::uint64_t array_owners = 0, array_owned_bytes = 0;  // of the owners, arrays that own their elements
    std::uint64_t native_owners = 0, native_bytes = 0;      // and native memory, without storages
    std::uint64_t tensors = 0;                              // of the arrays: torch's
    std::uint64_t tensors_without_bytes = 0;                // besides: empty, sparse, on another device
    std::uint64_t storages = 0, storage_bytes = 0;          // of the owners: torch's
    std::uint64_t not_saved = 0, not_saved_bytes = 0;       // owners with bytes that are not in the core
    std::uint64_t garbage = 0, garbage_bytes = 0;           // owners that no root reaches
    std::uint64_t kept_by_views = 0;                        // owners
    // owners; their bytes; those of them that are shown; arrays
    std::uint64_t pinned = 0, pinned_bytes = 0, pinned_visible = 0, pinned_views = 0;
    std::uint64_t unread = 0;  // arrays whose fields cannot be read; not in the other numbers
};

/// All arrays of a heap; empty if neither NumPy nor torch is loaded.
struct ArrayTable {
    std::vector<SeenArray> arrays;         // by object
    std::vector<ArrayOwner> owners;        // by the first array that led to them
    std::vector<std::uint32_t> of_owners;  // indices into `arrays`: grouped by owner, then by object
    ArraySums sums;

    std::span<const std::uint32_t> of_owner(const ArrayOwner& owner) const {
        return std::span(of_owners).subspan(owner.first, owner.count);
    }
    /// The owner of the array `object`, or `object` itself if it is an owner; null for others. Logarithmic
    /// for an array.
    const ArrayOwner* owner_of(ObjectId object) const;
};

/// Computes the heap's references if they are not there yet. Without NumPy it only looks at the types;
/// otherwise one walk over the graph, and some 500 ns per array. `like_bases`: other references (source,
/// target) by which a slice keeps what it was cut from; at most one per source.
ArrayTable array_table(const HeapGraph& graph,
                       const std::vector<std::pair<ObjectId, ObjectId>>& like_bases = {},
                       const ProgressCallback& progress = {});

/// Bytes of an owner that the given arrays show together; each byte once. `places`: indices into
/// `ArrayTable::arrays`.
std::uint64_t shown_bytes(const HeapReader& heap, const ArrayTable& table, const ArrayOwner& owner,
                          std::span<const std::uint32_t> places);

}  // namespace heapsift
