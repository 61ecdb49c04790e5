#pragma once

// The heap in V8's format, for the Memory panel of Chrome DevTools and for memlab.

#include "analysis/node_edges.h"
#include "cli/redact.h"

#include <functional>
#include <string_view>

namespace heapsift {

struct HeapSnapshotCounts {
    std::uint64_t nodes = 0, edges = 0, strings = 0;
};

/// For a heap with sizes. Written as it is made: keeps 4 bytes for each node, and each distinct name of an
/// edge once.
HeapSnapshotCounts write_heap_snapshot(const HeapGraph& graph, Redactor& redactor,
                                       const std::function<void(std::string_view)>& write,
                                       const ProgressCallback& progress = {});

}  // namespace heapsift
