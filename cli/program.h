#pragma once

// A whole run of heapsift, from its arguments to its exit code.

#include "cli/program_run.h"

#include <string>
#include <vector>

namespace heapsift {

/// Runs the command line and says on standard error why it failed, if it did. Throws nothing. As soon as an
/// answer is written, `end` is called with its exit code; null: the run returns.
int run_program(std::vector<std::string> arguments, EndProcess end = nullptr);

}  // namespace heapsift
