#pragma once

// A whole run of the program, for a command that starts others (batch).

#include <string>
#include <vector>

namespace heapsift {

/// From the arguments to the exit code; throws nothing (cli/program.h).
using ProgramRun = int (*)(std::vector<std::string> arguments);

}  // namespace heapsift
