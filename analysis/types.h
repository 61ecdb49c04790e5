#pragma once

// Objects grouped by type: how many, how large. Types of one name are one row each: a class made again and
// again is a finding.

#include "analysis/object_row.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

enum class SortKey { retained, memory, size, array_data, count, name };

struct TypeRow {
    std::string name;
    Address address;
    std::uint64_t count = 0;
    std::uint64_t size = 0;  // sums, bytes
    std::uint64_t memory = 0;
    std::uint64_t array_data = 0;
    std::optional<std::uint64_t> retained;
    ObjectRow largest;  // by memory, then by size, then the lowest address
};

struct TypesResult {
    std::vector<TypeRow> types;     // sorted, cut to the limit
    std::uint64_t total_types = 0;  // of all, not only the rows given
    std::uint64_t total_count = 0;
    std::uint64_t total_size = 0;
    std::uint64_t total_memory = 0;
    std::uint64_t total_array_data = 0;
    std::uint64_t shown_memory = 0;     // of the rows given
    std::uint64_t uncertain_sizes = 0;  // objects whose __sizeof__ is not known
    std::vector<std::pair<std::string, std::uint64_t>> uncertain_types;  // name, objects; largest first
    std::vector<std::pair<std::string, std::uint64_t>>
        python_sizeof_types;              // their __sizeof__ is written in Python, not run
    std::uint64_t damaged_objects = 0;    // see ObjectFacts::damaged
    std::uint64_t anonymous_objects = 0;  // of types whose name could not be read
    bool retained_computed = false;       // rows have what they retain, those that are given at least
};

/// One pass over all objects. Sorted descending by `sort` (name: ascending), ties by name, then address;
/// `limit` 0: all.
TypesResult types(const HeapReader& heap, SortKey sort, std::size_t limit,
                  const ProgressCallback& progress = {});

/// The order of `types`.
void sort_types(std::vector<TypeRow>& rows, SortKey sort);

/// Keeps the first `limit` rows (0: all); the totals stay.
void cut_types(TypesResult& result, std::size_t limit);

}  // namespace heapsift
