#pragma once

// One object, in full: what it is, what it refers to, who refers to it.

#include "analysis/edges.h"

namespace heapsift {

struct ShowResult {
    ObjectRow object;
    std::string found_by;  // in words
    EdgeList referents;
    EdgeList referrers;                  // `owned` of them were found: compare with the reference count
    std::optional<ObjectRow> dominator;  // nothing until dominators are built
};

ShowResult show_object(const HeapSnapshot& heap, ObjectId object, std::size_t limit, const ProgressCallback& progress = {});

}  // namespace heapsift
