#pragma once

// Where in the program's own code a suspect comes from.

#include "analysis/overview.h"
#include "analysis/suspects/code_that_names.h"
#include "analysis/suspects/suspect.h"
#include "analysis/work.h"

#include <vector>

namespace heapsift {

/// Fills in Suspect::used_in, and what else its code tells. Cost: the names of each code object for each name by which a
/// suspect is reached, and the instructions of those that use it; for a suspect of C code a look at each object's type.
void add_code(Work& work, const OverviewResult& overview, const CodeThatNames& code,
              std::vector<Suspect>& suspects);

}  // namespace heapsift
