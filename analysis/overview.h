#pragma once

// The first screen: what process this was, where its memory is, the largest types.

#include "analysis/types.h"

namespace heapsift {

struct OverviewResult {
    std::vector<HeapSnapshot::MemoryRow> memory;  // largest first; adds up to mapped_bytes
    std::uint64_t mapped_bytes = 0;
    TypesResult types;
    /// The first sentence, of facts that are known so far: the type with the most memory and its share.
    std::optional<TypeRow> largest_type;
};

OverviewResult overview(const HeapSnapshot& heap, std::size_t type_limit, const ProgressCallback& progress = {});

}  // namespace heapsift
