#pragma once

// What heapsift says about itself.

#include "cli/command.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// heapsift --help: the commands, and the options of every command (taken from any command's `options`).
std::string general_help(const std::vector<Command>& commands, const CommandOptions& options);

/// heapsift COMMAND --help.
std::string command_help(const Command& command, const CommandOptions& options);

/// heapsift alone; `core_in_use` is a path, or empty.
std::string first_words(const std::string& core_in_use);

/// heapsift help capture, heapsift help words; empty for another topic.
std::string help_topic(std::string_view topic);
std::vector<std::string> help_topics();

}  // namespace heapsift
