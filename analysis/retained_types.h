#pragma once

// What each row of the type table retains: what would come free if all objects of the type went away.

#include "analysis/holding/retained.h"
#include "analysis/types.h"

namespace heapsift {

/// Fills `retained` of the rows that are wanted, sorts all rows by `sort` and keeps the first `limit` (0:
/// all, and each gets its `retained`). Rows must be uncut (`types` with limit 0). Sorted by retained
/// with a limit, rows are chosen among the 128 or more that an estimate says are the largest. One instance
/// costs nothing; else as `retained_by_sets`.
void add_retained(TypesResult& result, const HeapGraph& graph, const RetainedSizes& sizes, SortKey sort,
                  std::size_t limit, const ProgressCallback& progress = {});

}  // namespace heapsift
