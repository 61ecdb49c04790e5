#pragma once

// Memory by source line: one table, or why there is none.

#include "analysis/lines.h"
#include "cli/document/document.h"

#include <cstddef>

namespace heapsift {

/// `query`: what was asked for.
Document render_lines(LinesResult result, const LinesQuery& query);

/// The word after --sort.
const char* name_of(LineSort sort);

/// "app.py:12"; the line is left out where it is unknown.
Text line_words(const SourceLine& line);

}  // namespace heapsift
