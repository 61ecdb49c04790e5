#pragma once

// A fleet from files of lines.

#include "cli/report/fleet.h"
#include "parsers/base/diagnostics.h"
#include "parsers/base/progress.h"

#include <string>
#include <vector>

namespace heapsift {

/// What all lines of these files say, those of each file in its order. Throws `Error` (exit 1) if one cannot be read
/// (LinesSource). Cost: a line of 1 KB takes 9 us, twice that where a core has several, and a million of them, of thirty
/// causes on a thousand hosts, 60 MB (Fleet).
Fleet read_fleet(const std::vector<std::string>& files, const ProgressCallback& progress);

/// Notes what was skipped. It makes the answer one in part, but for a last line that a kill left.
void note_skipped_lines(const Fleet::Skipped& skipped, Diagnostics& notes);

}  // namespace heapsift
