#pragma once

// A whole run of the program, for a command that starts others (batch), and how its process ends.

#include <string>
#include <vector>

namespace heapsift {

/// Ends the process with an exit code. What is on the stack is not destroyed: the system takes all memory
/// back at once, faster than piece by piece. Null: the run returns.
using EndProcess = void (*)(int code);

/// From the arguments to the exit code; throws nothing (cli/program.h).
using ProgramRun = int (*)(std::vector<std::string> arguments, EndProcess end);

}  // namespace heapsift
