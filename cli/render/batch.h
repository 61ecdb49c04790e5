#pragma once

// The line of one core in a batch.

#include "cli/batch_lines.h"
#include "cli/child_processes.h"
#include "cli/json.h"
#include "cli/redact.h"
#include "cli/stored_core.h"

#include <string>

namespace heapsift {

/// What is known of a core before it is read.
struct BatchCore {
    std::string path;  // as it is shown
    std::string key;   // parsers/elf/core_key.h; "" if it has none
    StoredCore stored;
    std::uint64_t file_bytes = 0;  // of its file
    BatchLimits limits = {};       // that its analysis has
};

/// The line of a core, of the schema that `heapsift help batch` has column by column, from the result of `heapsift
/// overview --json` in a child. A child that left no document gets an error ("crashed", "killed", "timed-out",
/// "not-started", "no-answer") and exit 1. The identity is that of a cut core where the answer says that it is cut. Every line has every column, null where it is not known, but for `error` or
/// `overview`, of which it has one; with `brief` the latter is left out.
Json batch_line(const BatchCore& core, const ChildEnd& end, const Redactor& redactor, bool brief);

}  // namespace heapsift
