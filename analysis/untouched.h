#pragma once

// What of a holder's memory the process never used. (How it is told: untouched.cpp.)

#include "analysis/holding/retained.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

class UntouchedBuffers {
public:
    /// Cost: a look at the buffers of each object of 512 KiB and more; if there are any, of a core that does not tell
    /// which pages were there, also at the first words of each page that can be written (untouched_memory.cpp).
    explicit UntouchedBuffers(const HeapReader& heap);

    bool empty() const { return objects_.empty(); }
    /// Bytes of pages that were never there, in buffers of objects that `node` dominates, itself included: at most what
    /// it retains. Cost: a look at each large object.
    std::uint64_t below(const RetainedLookup& retained, NodeId node) const;

private:
    std::vector<std::pair<ObjectId, std::uint64_t>> objects_;  // (object, bytes); the largest 10,000
};

}  // namespace heapsift
