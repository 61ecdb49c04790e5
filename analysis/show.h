#pragma once

// One object, in full: what it is, what it refers to, who refers to it.

#include "analysis/object_row.h"

namespace heapsift {

/// EDGE of the contract.
struct EdgeRow {
    ObjectRow source;  // with only address, type and value filled
    ObjectRow target;  // id no_object and type empty where no object was found at the address
    Reference reference;
    bool followed = true;
};

struct ShowResult {
    ObjectRow object;
    std::string found_by;            // in words
    std::int64_t accounted = 0;      // strong references to it that were found; compare with the reference count
    std::vector<EdgeRow> referents;  // cut to the limit
    std::uint64_t total_referents = 0;
    std::vector<EdgeRow> referrers;
    std::uint64_t total_referrers = 0;
    bool guesses_among_referrers = false;
    std::optional<ObjectRow> dominator;  // nothing until dominators are built
};

ShowResult show_object(const HeapSnapshot& heap, ObjectId object, std::size_t limit, const ProgressCallback& progress = {});

}  // namespace heapsift
