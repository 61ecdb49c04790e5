#pragma once

// Objects by type and source line.

#include "analysis/type_lines.h"
#include "cli/document/document.h"

#include <string>

namespace heapsift {

/// `options`: what was asked for besides, " --type 'a.*'", for commands to be typed.
Document render_type_lines(TypeLinesResult result, SortKey sort, const std::string& options);

}  // namespace heapsift
