#pragma once

// The table of types with what each retains, as an index keeps it: it is the first question of most hunts,
// and costs a walk over the heap for 64 types each.

#include "analysis/types.h"
#include "parsers/index/index_file.h"

#include <optional>
#include <string>

namespace heapsift {

/// The table sorted by `sort` and cut to `limit`, as `types` and `add_retained` gave it before; nothing if it
/// is not there. Cost: reading one object a row.
std::optional<TypesResult> read_kept_types(IndexFile& index, const HeapReader& heap, SortKey sort,
                                           std::size_t limit);

/// False if the index has many tables already: there may be one for each number of rows that is asked for,
/// and an index has places for few parts.
bool room_for_types(const IndexFile& index);

/// To be written: copies what it needs.
PartWriter kept_types_part(const TypesResult& result, SortKey sort, std::size_t limit);

}  // namespace heapsift
