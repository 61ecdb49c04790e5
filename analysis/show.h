#pragma once

// One object, in full: what it is, what it refers to, who refers to it.

#include "analysis/edges.h"
#include "analysis/holding/retained.h"

namespace heapsift {

struct ShowResult {
    ObjectRow object;
    std::string found_by;  // in words
    EdgeList referents;
    EdgeList referrers;                  // `owned` of them were found: compare with the reference count
    std::optional<ObjectRow> dominator;  // nothing where that is no object: a group, or several
    std::string group;                   // that holds it alone, else "shared by several groups"; not escaped
    std::uint64_t retained_size = 0;     // ObjectSizes::size of all that it retains
};

ShowResult show(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, std::size_t limit,
                const ProgressCallback& progress = {});

}  // namespace heapsift
