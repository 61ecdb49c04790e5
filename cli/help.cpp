// Help on commands and options, laid out from their declarations in two columns: the command's own options
// first, then those of every command.

#include "cli/help.h"

#include "cli/command_options.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/version.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

// Columns that every terminal has. (Examples may be wider if the program has a long path.)
constexpr std::size_t narrowest_terminal = 80;

std::string option_words(const CommandOptions::Option& option) {
    std::string words;
    for (const std::string& name : option.short_names) words += (words.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.long_names) words += (words.empty() ? "--" : ", --") + name;
    return option.is_flag() ? words : words + " " + option.value_name;
}

std::string options_text(const CommandOptions& options, bool common) {
    Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, "", TableColumn::Fit::wrap}});
    for (const CommandOptions::Option& option : options.all())
        if (option.common == common) table.add({option_words(option), option.description});
    return table.text(narrowest_terminal, false);
}

}  // namespace

std::string examples_text(const std::vector<Example>& examples, std::size_t indent) {
    constexpr std::size_t gap = 4;
    std::size_t commands = 0, remarks = 0;
    for (const Example& example : examples) {
        commands = std::max(commands, display_width(example.command));
        remarks = std::max(remarks, display_width(example.remark));
    }
    const bool beside = indent + commands + gap + remarks <= help_width;
    const std::string margin(indent, ' ');
    std::string text;
    for (const auto& [command, remark] : examples) {
        if (remark.empty())
            text += margin + command;
        else if (beside)
            text += margin + padded_right(command, commands + gap) + remark;
        else
            text += margin + command + "\n" + margin + std::string(gap, ' ') + remark;
        text += "\n";
    }
    return text;
}

std::vector<Example> with_program_name(std::vector<Example> examples) {
    for (Example& example : examples) example.command = command_line(example.command);
    return examples;
}

std::string general_help(const std::vector<Command>& commands, const CommandOptions& options) {
    Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, "", TableColumn::Fit::wrap}});
    for (const Command& command : commands)
        table.add({command.words.name + " " + command.usage, command.summary});
    const std::string examples = examples_text(with_program_name(examples_of_heapsift()));
    return fmt::format(
        "heapsift {}: what fills the memory of a Python process, from its core dump\n\n"
        "{}\n"
        "Usage: {}, in any order; CORE may be the id of a running process\n\n"
        "Commands\n{}\n{}\n{}\n"
        "Options of one command: {}\n"
        "Exit codes: 0 answered, 1 not analysed, 2 wrong command line, 3 answered in part\n",
        version(), examples, command_line("[COMMAND] [CORE] [ADDRESS] [options]"),
        table.text(narrowest_terminal, false), common_group, options_text(options, true),
        command_line("COMMAND --help"));
}

std::string command_help(const Command& command, const CommandOptions& options) {
    std::string text = fmt::format("Usage: {} {} [options]\n\n{}\n\n", command_line(command.words.name),
                                   command.usage, command.summary);
    const CommandText& more = text_of_command(command.words.name);
    if (!more.examples.empty()) text += examples_text(with_program_name(more.examples)) + "\n";
    if (!more.description.empty()) text += wrapped(more.description, narrowest_terminal, 0) + "\n\n";
    text += "Options\n" + options_text(options, false);
    text += std::string("\n") + common_group + "\n" + options_text(options, true);
    return command.details ? text + "\n" + command.details() : text;
}

}  // namespace heapsift
