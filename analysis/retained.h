#pragma once

// What deleting a set of objects would free.

#include "analysis/holding/retained.h"

#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct RetainedResult {
    std::uint64_t asked = 0;     // objects of the set
    std::uint64_t objects = 0;   // that would be freed, including those of the set
    std::uint64_t retained = 0;  // their memory, bytes
    std::uint64_t retained_size = 0;
    struct Row {
        TypeId type = no_type;
        std::string name;
        std::uint64_t count = 0, memory = 0, size = 0;
    };
    std::vector<Row> types;  // by memory, then name; cut to the limit
    std::uint64_t total_types = 0;
    std::uint64_t shown_memory = 0;  // of the rows given
};

/// `limit` 0: all types.
RetainedResult retained(const HeapGraph& graph, std::span<const ObjectId> set, std::size_t limit);

}  // namespace heapsift
