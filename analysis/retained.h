#pragma once

// What deleting a set of objects would free.

#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct RetainedResult {
    std::uint64_t asked = 0;     // objects of the set
    std::uint64_t objects = 0;   // that would be freed, including those of the set
    std::uint64_t retained = 0;  // their memory, and that of blocks of C code, bytes
    std::uint64_t native = 0;    // of it, these blocks
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

/// `limit` 0: all types. `set` by id, each once. With `sizes` the work for a single object is one pass over
/// what is reached through it; else, and for more of them, over the heap.
RetainedResult retained(const HeapGraph& graph, std::span<const ObjectId> set, std::size_t limit,
                        const RetainedSizes* sizes = nullptr);

/// The same, kept: `question` says what the set is.
RetainedResult kept_retained(KeptAnswers* answers, const KeptQuestion& question, const HeapGraph& graph,
                             const std::function<RetainedResult()>& find);

}  // namespace heapsift
