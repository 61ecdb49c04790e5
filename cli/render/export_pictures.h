#pragma once

// What other programs draw: stacks for a flame graph, and Graphviz' own language.

#include "analysis/flame.h"
#include "analysis/picture.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// "group;frame;type;type 4096" a line, outermost first: what flamegraph.pl, inferno and speedscope read.
/// Returns the lines.
std::uint64_t write_folded(const HeapGraph& graph, const RetainedSizes& retained, std::size_t depth,
                           const std::function<void(std::string_view)>& write);

/// As objgraph draws: the object that was asked for in red, modules green, frames and groups blue; the
/// further away, the darker.
std::string dot_text(const Picture& picture, Redactor& redactor);

}  // namespace heapsift
