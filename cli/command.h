#pragma once

// A command: its name, the words it takes, its options, and the function that runs it.

#include "cli/session.h"
#include "cli/words.h"

#include <functional>
#include <string>

namespace heapsift {

class CommandOptions;

/// Called after the options have been parsed.
using CommandRunner = std::function<ExitCode(Session&)>;

struct Command {
    WordShape words;
    std::string usage;      // "[CORE]", "ADDRESS [CORE]"
    std::string summary;    // one line of --help
    bool is_table = false;  // its answer has rows, so --format csv works
    /// Declares the command's own options and returns what runs it.
    CommandRunner (*setup)(CommandOptions& declare) = nullptr;
    bool own_format = false;             // it declares --format itself, in place of the common option
    std::string (*details)() = nullptr;  // the text of --help below its options; above them: command_texts.h
};

}  // namespace heapsift
