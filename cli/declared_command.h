#pragma once

// A command with its options declared: what parses a line, and what help, the manual and completion list.

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"

#include <memory>
#include <vector>

namespace heapsift {

struct DeclaredCommand {
    const Command& command;
    CommandOptions options;
    CommandRunner run;  // none for help

    /// Parsing fills `common`, which must live until then.
    DeclaredCommand(const Command& declared, CommonOptions& common)
        : command(declared), options(declared.words.name, declared.summary) {
        if (command.setup) run = command.setup(options);
        add_common_options(options, common, command.own_format);
    }
};

/// Every command of command_list.h, in its order.
inline std::vector<std::unique_ptr<DeclaredCommand>> declared_commands(CommonOptions& common,
                                                                       const std::vector<Command>& commands) {
    std::vector<std::unique_ptr<DeclaredCommand>> all;
    for (const Command& command : commands) all.push_back(std::make_unique<DeclaredCommand>(command, common));
    return all;
}

}  // namespace heapsift
