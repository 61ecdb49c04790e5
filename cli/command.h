#pragma once

// A command: its name, the words it takes, its options, and what runs it.

#include "cli/session.h"
#include "cli/words.h"

#include <functional>
#include <string>

namespace heapsift {

class CommandOptions;

/// Called after the options were parsed.
using CommandRunner = std::function<ExitCode(Session&)>;

struct Command {
    WordShape words;
    std::string usage;      // "[CORE]", "ADDRESS [CORE]"
    std::string summary;    // one line of --help
    bool is_table = false;  // has rows: can be csv
    /// Declares the command's own options and returns what runs it.
    CommandRunner (*setup)(CommandOptions& declare) = nullptr;
    bool own_format = false;             // its --format is not that of the common options
    std::string (*details)() = nullptr;  // what --help says below its options
};

}  // namespace heapsift
