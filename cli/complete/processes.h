#pragma once

// Living processes that a command may be asked about.

#include "cli/complete/candidates.h"

#include <chrono>
#include <string>
#include <vector>

namespace heapsift {

/// Processes that run a file with "python" in its name (the program, or a library), by number; the remark is the command
/// line. Those whose files may not be read are left out, and what was not looked at within `most` (patience.h). `proc` is
/// another place in tests.
std::vector<Candidate> process_candidates(const std::string& beginning,
                                          std::chrono::milliseconds most = std::chrono::milliseconds(40),
                                          const std::string& proc = "/proc");

}  // namespace heapsift
