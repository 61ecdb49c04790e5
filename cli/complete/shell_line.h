#pragma once

// A line of bash up to the cursor, as words; and words as such a line has them.

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ShellLine {
    std::vector<std::string> words;  // whole ones, without their quotes; the program's name is the first
    std::string current;             // the word at the cursor, without its quotes; may be empty
    char quote = 0;                  // the quote that is open at the cursor: ' or ", else 0
    std::string kept;                // the beginning of `current` that bash does not replace
};

/// `breaks`: the characters at which bash begins a word to be completed, $COMP_WORDBREAKS. Expansions ($x,
/// `...`) stay as they are typed.
ShellLine read_shell_line(std::string_view line, std::string_view breaks);

/// What bash puts in place of the rest of the word when it becomes `value`: quoted as the word is that far.
/// Empty if it cannot be: `value` does not begin with `line.kept`, or no such quoting keeps it from being
/// expanded.
std::string in_shell_line(const ShellLine& line, std::string_view value);

}  // namespace heapsift
