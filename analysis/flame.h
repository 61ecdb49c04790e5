#pragma once

// The dominator tree as the stacks of a flame graph: the width of a frame is what it retains.

#include "analysis/holding/retained.h"

#include <functional>
#include <span>
#include <string>

namespace heapsift {

/// Calls `visit` with each stack, outermost frame first (a group, a frame of a thread, then types), and the
/// bytes of memory of the objects at its end. Each stack comes once, and none with 0 bytes. Objects of one
/// type below each other are one frame, "app.Node ×100" if the longest such chain has 100; so are two types
/// that alternate. What is deeper than `depth` frames is in "…". Names are not escaped. Memory: 4 bytes per
/// object, and one node per stack.
void visit_flame_stacks(
    const HeapGraph& graph, const RetainedSizes& sizes, std::size_t depth,
    const std::function<void(std::span<const std::string> stack, std::uint64_t memory)>& visit);

}  // namespace heapsift
