#pragma once

// Kinds of option values, each with an error of one line that says what would be right. (CLI11's own errors speak to
// programmers.)

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heapsift {

/// One of `words`: `set` is given its place. Throws `Error` (exit 2, "bad-option") when another word is parsed.
void add_choice(CLI::App& app, const std::string& names, std::vector<std::string> words, std::function<void(std::size_t)> set,
                const std::string& description);

/// A number from 0 on, with a unit or not (64K).
void add_number(CLI::App& app, const std::string& names, std::optional<std::size_t>& number, const std::string& description);

/// True where the option takes no value.
bool is_flag(const CLI::Option& option);

/// What --help calls its value: "PATH", "text|json"; empty for a flag.
std::string value_name(const CLI::Option& option);

}  // namespace heapsift
