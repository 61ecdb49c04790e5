// Help on commands and options, laid out from what was declared: two columns, options of one command above those of
// every command.

#include "cli/help.h"

#include "cli/command_options.h"
#include "cli/table.h"
#include "cli/version.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string option_words(const CommandOptions::Option& option) {
    std::string words;
    for (const std::string& name : option.short_names) words += (words.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.long_names) words += (words.empty() ? "--" : ", --") + name;
    return option.is_flag() ? words : words + " " + option.value_name;
}

std::string options_text(const CommandOptions& options, bool common) {
    Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, ""}});
    for (const CommandOptions::Option& option : options.all())
        if (option.common == common) table.add({option_words(option), option.description});
    return table.text(0, false);
}

}  // namespace

std::string general_help(const std::vector<Command>& commands, const CommandOptions& options) {
    Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, ""}});
    for (const Command& command : commands) table.add({command.words.name + " " + command.usage, command.summary});
    return fmt::format(
        "heapsift {}: what is on the heap of a CPython process, from its core\n\n"
        "  heapsift core.1234 --top types    the first question\n"
        "  heapsift objects                  the next ones are about the same core, and need not name it\n"
        "  heapsift show 0x7f31c2a4d5e0      an object, by its address as the tables print it\n"
        "  heapsift show \"app.CACHE['k']\"    or by what Python calls it; heapsift help address\n\n"
        "Usage: heapsift [COMMAND] [CORE] [ADDRESS] [options], in any order\n\n"
        "Commands\n{}\n{}\n{}\n"
        "heapsift COMMAND --help has the options of one command; exit codes: 0 answered, 1 not analysable,\n"
        "2 wrong command line, 3 answered in part.\n",
        version(), table.text(0, false), common_group, options_text(options, true));
}

std::string command_help(const Command& command, const CommandOptions& options) {
    std::string text =
        fmt::format("Usage: heapsift {} {} [options]\n\n{}\n\n", command.words.name, command.usage, command.summary);
    text += "Options\n" + options_text(options, false);
    text += std::string("\n") + common_group + "\n" + options_text(options, true);
    return *command.details == '\0' ? text : text + "\n" + command.details;
}

}  // namespace heapsift
