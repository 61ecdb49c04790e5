#pragma once

// The line of one core in a batch.

#include "cli/child_processes.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <string>

namespace heapsift {

/// {"path", "exit", "error" or "overview", "signature", …} from the result of `heapsift overview --json` in a
/// child. A child that left no document gets an error ("crashed", "killed", "timed-out", "not-started",
/// "no-answer") and exit 1.
Json batch_line(const std::string& path, const ChildEnd& end, const Redactor& redactor);

}  // namespace heapsift
