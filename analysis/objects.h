#pragma once

// Single objects, largest first.

#include "analysis/types.h"

#include <functional>

namespace heapsift {

/// One comparison of `--where`: FIELD OP NUMBER, joined by commas or repeated; FIELD one of size, memory, array_data, refcount,
/// block_size, length; OP one of < <= = != >= >. NUMBER may carry K, M, G or KiB, MiB, GiB.
struct ObjectCondition {
    enum class Field { size, memory, array_data, refcount, block_size } field;
    enum class Operator { less, less_equal, equal, not_equal, greater_equal, greater } op;
    std::int64_t value;
};

struct ObjectsQuery {
    std::vector<TypeId> types;      // empty: all
    bool include_subclasses = false;
    std::vector<ObjectCondition> where;
    SortKey sort = SortKey::memory; // retained, memory, size, array_data; count and name: by type name, then address
    std::size_t limit = 20;         // 0: all
};

struct ObjectsResult {
    std::vector<ObjectRow> objects;
    std::uint64_t total_count = 0;  // of all that match
    std::uint64_t total_size = 0;
    std::uint64_t total_memory = 0;
};

/// One pass; keeps only `limit` rows in memory. Values are read for the rows that are returned.
ObjectsResult list_objects(const HeapSnapshot& heap, const ObjectsQuery& query, const ProgressCallback& progress = {});

/// The same, but hands each matching row to `row` in address order instead of collecting them (for --format jsonl -n 0).
void stream_objects(const HeapSnapshot& heap, const ObjectsQuery& query, const std::function<void(const ObjectRow&)>& row);

}  // namespace heapsift
