#pragma once

// What each row of the type table retains: what deleting all objects of the type would free.

#include "analysis/holding/retained.h"
#include "analysis/types.h"

namespace heapsift {

/// Fills in `retained` for the rows that are wanted, sorts all rows by `sort` and keeps the first `limit` (0:
/// all rows, each with its `retained`). Rows must be uncut (`types` with limit 0). If sorted by retained with
/// a limit, rows are chosen from the 128 or more that an estimate puts first. A single instance costs
/// nothing; for others see `retained_by_sets`.
void add_retained(TypesResult& result, const HeapGraph& graph, const RetainedSizes& sizes, SortKey sort,
                  std::size_t limit, const ProgressCallback& progress = {});

}  // namespace heapsift
