#pragma once

// One object in full: what it is, what it refers to, what refers to it.

#include "analysis/edges.h"
#include "analysis/holding/retained.h"

namespace heapsift {

struct ShowResult {
    ObjectRow object;
    std::string found_by;  // for people
    EdgeList referents;
    EdgeList referrers;                  // `owned` of them were found: compare with the reference count
    std::optional<ObjectRow> dominator;  // nothing if it is not an object: a group, or several
    std::string group;                   // its only holder, else "shared by several groups"; not escaped
    std::uint64_t retained_size = 0;     // ObjectSizes::size of everything it retains
};

ShowResult show(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, std::size_t limit,
                const ProgressCallback& progress = {});

}  // namespace heapsift
