#pragma once

// References one step up or down, as rows (EDGE of the contract).

#include "analysis/holding/structural_references.h"
#include "analysis/object_row.h"

#include <vector>

namespace heapsift {

struct EdgeRow {
    ObjectRow source;  // with only address, type and value filled; of a native reference only the address: of
                       // the word
    ObjectRow target;  // id no_object and type empty where no object was found at the address
    Reference reference;
    bool followed = true;
};

/// All references of an object, or all to it: those that are followed first, else in their own order.
struct EdgeList {
    std::vector<EdgeRow> edges;  // cut to the limit
    std::uint64_t total = 0;
    std::int64_t owned = 0;  // of all, those that a reference count counts
    bool guesses = false;    // some of the owned ones are guesses
};

/// What `object` refers to. `limit` 0: all.
EdgeList referents(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit);

/// Who refers to `object`. One pass over the heap.
EdgeList referrers(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit);

struct EdgesResult {
    ObjectRow object;
    EdgeList list;
};

/// The same for a command of its own.
EdgesResult referents(const HeapReader& heap, ObjectId object, std::size_t limit);
EdgesResult referrers(const HeapReader& heap, ObjectId object, std::size_t limit,
                      const ProgressCallback& progress = {});

}  // namespace heapsift
