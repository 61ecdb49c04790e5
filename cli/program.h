#pragma once

// A whole run of heapsift, from its arguments to its exit code.

#include <string>
#include <vector>

namespace heapsift {

/// Runs the command line and says on standard error why it failed, if it did. Throws nothing.
int run_program(std::vector<std::string> arguments);

}  // namespace heapsift
