#pragma once

// Single objects, largest first.

#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"
#include "analysis/object_states.h"
#include "analysis/types.h"

namespace heapsift {

/// One comparison of `--where` (its notation: cli/where.h).
struct ObjectCondition {
    enum class Field { size, memory, array_data, retained, refcount, block_size } field;
    enum class Operator { less, less_equal, equal, not_equal, greater_equal, greater } op;
    std::int64_t value;
};

struct ObjectsQuery {
    std::vector<TypeId> types;  // empty: all
    bool include_subclasses = false;
    std::vector<ObjectCondition> where;
    SortKey sort =
        SortKey::memory;     // retained, memory, size, array_data; count and name: by type name, then address
    std::size_t limit = 20;  // 0: all
};

/// The objects that match, in the order asked for; 4 bytes per match. Rows are read one by one with
/// `object_row`: the rows of all objects of a large heap would take several times its memory.
struct ObjectsResult {
    std::vector<ObjectId> objects;  // cut to the limit
    std::uint64_t total_count = 0;  // all that match
    std::uint64_t total_size = 0;
    std::uint64_t total_memory = 0;
    std::uint64_t shown_memory = 0;     // of the rows given
    std::uint64_t damaged_objects = 0;  // of all objects looked at; see ObjectFacts::damaged
};

/// One pass; with a limit, only that many matches are kept in memory. Ties: by type name, then address.
/// Without `retained` every object counts as retaining 0. `answers` may be null.
ObjectsResult objects(const HeapReader& heap, const ObjectsQuery& query, const RetainedLookup* retained,
                      const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

/// Whether sizes that are retained decide which objects match, or their order.
bool asks_retained(const ObjectsQuery& query);

/// A row of the list, with what the graph tells about it.
ObjectRow object_row(const RetainedLookup& retained, const ObjectStates& states, ObjectId object);

/// True if every condition holds.
bool satisfies(const ObjectFacts& facts, std::uint64_t retained,
               const std::vector<ObjectCondition>& conditions);

}  // namespace heapsift
