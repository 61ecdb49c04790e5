#pragma once

// Objects grouped by type: how many, how large. Types of the same name get a row each: a class that is
// created again and again is a finding.

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
    std::uint64_t native = 0;  // of `retained`: blocks of C code
    ObjectRow largest;         // by memory, then by size, then the lowest address
};

struct TypesResult {
    std::vector<TypeRow> types;     // sorted, cut to the limit
    std::uint64_t total_types = 0;  // these: of all types, not only the rows given
    std::uint64_t total_count = 0;
    std::uint64_t total_size = 0;
    std::uint64_t total_memory = 0;
    std::uint64_t total_array_data = 0;
    std::uint64_t shown_memory = 0;     // of the rows given
    std::uint64_t uncertain_sizes = 0;  // objects whose __sizeof__ is not known
    std::vector<std::pair<std::string, std::uint64_t>> uncertain_types;  // name, objects; largest first
    // their __sizeof__ is written in Python and is not run
    std::vector<std::pair<std::string, std::uint64_t>> python_sizeof_types;
    std::uint64_t damaged_objects = 0;    // see ObjectFacts::damaged
    std::uint64_t anonymous_objects = 0;  // of types whose name could not be read
    bool retained_computed = false;       // at least the rows given have `retained`
};

/// One pass over all objects. Sorted by `sort`, largest first (name: alphabetically), ties by name, then
/// address; `limit` 0: all.
TypesResult types(const HeapReader& heap, SortKey sort, std::size_t limit,
                  const ProgressCallback& progress = {});

/// Sorts as `types` does.
void sort_types(std::vector<TypeRow>& rows, SortKey sort);

/// Keeps the rows of these types, named by the addresses of their type objects, of an uncut table; the totals are then
/// theirs. `damaged_objects` stays that of all types.
void keep_types(TypesResult& result, const std::vector<Address>& wanted);

/// Keeps the first `limit` rows (0: all); the totals stay.
void cut_types(TypesResult& result, std::size_t limit);

}  // namespace heapsift
