#pragma once

// What heapsift says about itself.

#include "cli/command.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// Columns. Help is the same wherever it goes, so its layout does not ask the terminal.
inline constexpr std::size_t help_width = 100;

/// heapsift --help: the commands, and the options of every command (from any command's `options`).
std::string general_help(const std::vector<Command>& commands, const CommandOptions& options);

/// heapsift COMMAND --help.
std::string command_help(const Command& command, const CommandOptions& options);

/// heapsift without arguments; `core_in_use` is a path, or empty.
std::string first_words(const std::string& core_in_use);

/// A line to type, and what it does.
struct Example {
    std::string command;
    std::string remark;
};

/// The remarks stand in a column beside the commands, or below them if a command is too long for that.
std::string examples_text(const std::vector<Example>& examples, std::size_t indent = 2);

/// heapsift help TOPIC (capture, words); empty for an unknown topic.
std::string help_topic(std::string_view topic);
std::vector<std::string> help_topics();

}  // namespace heapsift
