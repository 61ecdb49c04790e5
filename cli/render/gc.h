#pragma once

#include "analysis/gc.h"
#include "analysis/suspects/collector_calls.h"
#include "cli/document/document.h"
#include "parsers/base/diagnostics.h"

#include <functional>
#include <vector>

namespace heapsift {

Document render_gc(const GcResult& result, const std::vector<CollectorCall>& calls = {});
/// `row` reads one object. The document keeps it, and it owns what it reads from.
Document render_gc_list(GcResult result, std::function<ObjectRow(ObjectId)> row);

/// Says of a process without symbols for the collector's settings that they are not known. For what shows them, or
/// rests on them.
void note_collector_settings(const Layout& layout, Diagnostics& diagnostics);

}  // namespace heapsift
