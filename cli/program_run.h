#pragma once

// A whole run of the program, for a command that starts others (batch), and how its process ends.

#include <string>
#include <vector>

namespace heapsift {

/// Ends the process with an exit code. What is on the stack is not destroyed: freeing millions of small pieces
/// takes as long as a pass over the heap, and the system does it at once. Null: the run returns.
using EndProcess = void (*)(int code);

/// From the arguments to the exit code; throws nothing (cli/program.h).
using ProgramRun = int (*)(std::vector<std::string> arguments, EndProcess end);

}  // namespace heapsift
