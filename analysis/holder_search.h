#pragma once

// Where memory gathers, as nodes of the graph, before anything is called by a name (top_holders.cpp).

#include "analysis/top_holder.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

/// At most `most` places with at least `least` bytes each, the largest first.
std::vector<TopHolder> search_holders(const RetainedLookup& retained, std::uint64_t least, std::size_t most);

/// The first reference that C code has to the object; null if there is none.
const HeapGraph::PlacedRoot* c_code_root(const HeapGraph& graph, ObjectId object);

}  // namespace heapsift
