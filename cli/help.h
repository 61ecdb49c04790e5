#pragma once

// What heapsift says about itself.

#include "cli/command.h"
#include "cli/command_texts.h"

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

/// The remarks stand in a column beside the commands, or below them if a command is too long for that.
std::string examples_text(const std::vector<Example>& examples, std::size_t indent = 2);

/// Examples of a text, whose lines lack the program's name, with the name by which it was called.
std::vector<Example> with_program_name(std::vector<Example> examples);

/// heapsift help TOPIC (capture, words, ...); empty for an unknown topic.
std::string help_topic(std::string_view topic);
std::vector<std::string> help_topics();

}  // namespace heapsift
