#pragma once

// The few objects that hold most of a heap: where a person would begin.

#include "analysis/top_holder.h"

#include <vector>

namespace heapsift {

/// Largest first, at most `most`; each retains at least `least` bytes. From each group and each large child
/// of one it goes down while one child has most of what its dominator retains. `answers` may be null.
std::vector<TopHolder> top_holders(const HeapGraph& graph, const RetainedSizes& sizes, std::uint64_t least,
                                   std::size_t most, const ProgressCallback& progress = {},
                                   KeptAnswers* answers = nullptr);

}  // namespace heapsift
