#pragma once

// Caches of Python's own library, which a process fills while it becomes warm: they grow between two cores, and
// nothing is wrong.

#include <string>

namespace heapsift {

/// `holder` and `place`: as in GrownPlace.
bool is_usual_growth(const std::string& holder, const std::string& place);

}  // namespace heapsift
