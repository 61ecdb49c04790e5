#pragma once

// Every command there is, in the order of --help.

#include "cli/command.h"

#include <vector>

namespace heapsift {

/// What is not built yet is not in it.
const std::vector<Command>& all_commands();

}  // namespace heapsift
