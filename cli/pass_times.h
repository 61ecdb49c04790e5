#pragma once

// The last lines under -v: how long each pass of the run took, and how much memory it needed.

#include "parsers/base/passes.h"

#include <span>
#include <string>

namespace heapsift {

/// Lines, each ended: name, elapsed seconds, CPU seconds, rise of the peak memory; the last is the whole run.
/// Seconds are rounded so that the rows add up to the total. Passes that would show only zeros are one row,
/// "other".
std::string pass_table(std::span<const Pass> passes);

}  // namespace heapsift
