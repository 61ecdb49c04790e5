#pragma once

// The table of types, as it is kept (analysis/kept_answers.h): it is the first question of most hunts, and
// with what each type retains it costs a walk over the heap for 64 types each.

#include "analysis/kept_answers.h"
#include "analysis/types.h"

#include <functional>

namespace heapsift {

/// The table sorted by `sort` and cut to `limit`: a kept one, else what `find` gives, which must be sorted
/// and cut in the same way. Cost of a kept one: reading one object a row.
TypesResult kept_types(KeptAnswers* answers, const HeapReader& heap, SortKey sort, std::size_t limit,
                       const std::function<TypesResult()>& find);

}  // namespace heapsift
