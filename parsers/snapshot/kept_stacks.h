#pragma once

// Without the GIL: the stacks of objects that the collector is done with, which each thread keeps for its next collection.

#include "parsers/snapshot/object_access.h"

#include <vector>

namespace heapsift {

/// What is left in them: addresses that hold nothing. Sorted, and apart; empty with a GIL. Cost: a look at 4,000 words of
/// each thread's state.
std::vector<AddressRange> kept_object_stacks(const PythonHeap& heap, const Allocations& allocations);

}  // namespace heapsift
