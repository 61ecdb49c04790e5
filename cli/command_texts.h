#pragma once

// What help and the manual say of a command beyond its summary and its options.

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A line to type, and what it does. In a CommandText the line lacks the program's name, and is
/// everything behind it.
struct Example {
    std::string command;
    std::string remark;
};

struct CommandText {
    std::string_view command;
    std::string description;  // sentences; paragraphs are divided by an empty line
    std::vector<Example> examples;
};

/// Of a command; an empty text for a command that has none.
const CommandText& text_of_command(std::string_view name);

/// Of heapsift as a whole.
const std::string& text_of_heapsift();
const std::vector<Example>& examples_of_heapsift();

/// Something that has a name, and what it means.
struct Term {
    std::string name, meaning;
};
const std::vector<Term>& exit_codes();
const std::vector<Term>& environment_variables();
const std::vector<Term>& files_of_heapsift();

}  // namespace heapsift
