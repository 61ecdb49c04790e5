#pragma once

// The line of one core in a batch.

#include "cli/child_processes.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <string>

namespace heapsift {

/// {"path", "exit", "error" or "overview", "signature", …} from what `heapsift overview --json` did in a
/// child. A child that left no document has an error all the same: "crashed", "killed", "timed-out",
/// "not-started", "no-answer"; its exit is 1.
Json batch_line(const std::string& path, const ChildEnd& end, const Redactor& redactor);

}  // namespace heapsift
