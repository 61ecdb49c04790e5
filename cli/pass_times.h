#pragma once

// What -v ends with: how long each pass of the run took, and what memory it needed.

#include "parsers/base/passes.h"

#include <span>
#include <string>

namespace heapsift {

/// Lines, each ended: name, seconds by the wall, CPU seconds, by how much the peak of memory rose; the last
/// is the whole run. Seconds are rounded so that the rows shown add up to the whole shown. Passes of which
/// nothing would be shown but zeros are one row, "other".
std::string pass_table(std::span<const Pass> passes);

}  // namespace heapsift
