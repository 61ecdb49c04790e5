#pragma once

// Paths that begin with what was typed.

#include "cli/complete/candidates.h"

#include <chrono>
#include <string>
#include <vector>

namespace heapsift {

/// Folders end in a slash. `beginning` may begin with ~/, and then each candidate does. Files are told by
/// their first bytes, until `most` has passed: what was not looked at by then is left out. Hidden files are
/// offered if the beginning asks for one. By name.
std::vector<Candidate> path_candidates(const std::string& beginning, PathKind kind,
                                       std::chrono::milliseconds most = std::chrono::milliseconds(40));

}  // namespace heapsift
