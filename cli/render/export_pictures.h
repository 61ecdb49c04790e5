#pragma once

// Input for programs that draw: stacks for a flame graph, and Graphviz' DOT.

#include "analysis/flame.h"
#include "analysis/picture.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// Lines "group;frame;type;type 4096", outermost frame first, for flamegraph.pl, inferno and speedscope.
/// Returns the number of lines.
std::uint64_t write_folded(const HeapGraph& graph, const RetainedSizes& retained, std::size_t depth,
                           const std::function<void(std::string_view)>& write);

/// DOT, from left to right: a node is as large as what it retains, but for its label; the object that was asked about
/// yellow, modules green, frames and groups blue.
std::string dot_text(const Picture& picture, Redactor& redactor);

}  // namespace heapsift
