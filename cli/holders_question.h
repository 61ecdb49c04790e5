#pragma once

// Who holds the memory: one question, which holders and types --by-holder ask.

#include "cli/session.h"

#include <string>

namespace heapsift {

/// Asks and writes the answer. `command` is the one that was typed: "holders", "types"; `type` may be empty.
ExitCode answer_holders(Session& session, const std::string& command, const std::string& type,
                        bool subclasses);

}  // namespace heapsift
