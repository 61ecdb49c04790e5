#pragma once

// Memory by source line: one table, or why there is none.

#include "analysis/lines.h"
#include "cli/document/document.h"
#include "parsers/base/diagnostics.h"
#include "parsers/cpython/tracemalloc.h"

#include <cstddef>

namespace heapsift {

/// `query`: what was asked for.
Document render_lines(LinesResult result, const LinesQuery& query);

/// Adds what of tracemalloc's records is missing: "tracemalloc-unread", "tracemalloc-sum".
void note_unread_traces(const TracedMemory& traced, Diagnostics& diagnostics);

/// Why there is no line at all, and how to have it next time.
void say_not_traced(bool available, Document& document);

/// The word after --sort.
const char* name_of(LineSort sort);

}  // namespace heapsift
