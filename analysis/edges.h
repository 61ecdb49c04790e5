#pragma once

// The references of an object and those to it, as rows (EDGE of the contract).

#include "analysis/holding/structural_references.h"
#include "analysis/kept_answers.h"
#include "analysis/native_holders.h"
#include "analysis/object_row.h"

#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace heapsift {

struct EdgeRow {
    // only address, type and value are filled; for a native reference only the address: that of the word
    ObjectRow source;
    ObjectRow target;  // id no_object and empty type if no object was found at the address
    Reference reference;
    bool followed = true;
    std::optional<NativeHolder> holder;  // of a native reference to an object whose referrers were asked for
};

/// All references of an object, or all to it: those that are followed first, otherwise in their own order.
struct EdgeList {
    std::vector<EdgeRow> edges;  // cut to the limit
    std::uint64_t total = 0;
    std::uint64_t followed = 0;
    std::int64_t owned = 0;  // of all, those that a reference count includes
    bool guesses = false;    // some of the owned ones are guesses
};

/// As a limit: they are counted, but none is kept.
constexpr std::size_t no_edges = std::numeric_limits<std::size_t>::max();

/// What `object` refers to. `limit` 0: all. How many there are is kept in `answers`, if they are many.
EdgeList referents(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit, KeptAnswers* answers = nullptr);

/// What refers to `object`. Cost: one pass over the heap.
EdgeList referrers(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit, KeptAnswers* answers = nullptr);

/// All rows of such a list, in its order, one by one: there may be millions, which take half a kilobyte each.
/// `list` was made from the same object; its rows are not read. Cost: once or twice that of the list.
using EdgeVisitor = std::function<void(const EdgeRow&)>;
void visit_referents(const HeapReader& heap, ObjectId object, const EdgeList& list, const EdgeVisitor& visit);
void visit_referrers(const HeapReader& heap, ObjectId object, const EdgeList& list, const EdgeVisitor& visit);

struct EdgesResult {
    ObjectRow object;
    EdgeList list;
};

/// The same for a command that asks for nothing else.
EdgesResult referents(const HeapReader& heap, ObjectId object, std::size_t limit,
                      KeptAnswers* answers = nullptr);
EdgesResult referrers(const HeapReader& heap, ObjectId object, std::size_t limit,
                      const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

}  // namespace heapsift
