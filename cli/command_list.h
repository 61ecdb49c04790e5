#pragma once

// Every command there is, in the order of --help.

#include "cli/command.h"

#include <vector>

namespace heapsift {

/// Only commands that are built.
const std::vector<Command>& all_commands();

}  // namespace heapsift
