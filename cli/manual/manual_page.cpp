// A page says what --help says, in the order that man-pages(7) asks for. What is the same for all commands
// (options, topics) stands in heapsift(1), to which every other page refers.

#include "cli/manual/manual_page.h"

#include "cli/command_texts.h"
#include "cli/help.h"
#include "cli/manual/roff.h"
#include "cli/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heapsift {
namespace {

std::string upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string page_head(const std::string& name, const std::string& summary) {
    return fmt::format(".TH {} 1 {} {} {}\n.SH NAME\n{} \\- {}\n", roff(upper_case(name), true),
                       version_date(), roff("heapsift " + version(), true).insert(0, "\"") + "\"",
                       "\"Memory of Python processes\"", roff(name, true), roff(summary));
}

/// "ADDRESS [CORE]": what the reader replaces is in italics.
std::string usage_words(std::string_view usage) {
    std::string out, word;
    const auto end_word = [&] {
        if (!word.empty()) out += roff_italic(word);
        word.clear();
    };
    for (const char c : usage) {
        if (std::isupper(static_cast<unsigned char>(c))) {
            word += c;
            continue;
        }
        end_word();
        out += roff(std::string_view(&c, 1), true);
    }
    end_word();
    return out;
}

std::string synopsis(const std::string& command, const std::string& usage) {
    return fmt::format(".SH SYNOPSIS\n{}\n{} [{}]\n", roff_bold("heapsift " + command), usage_words(usage),
                       roff_italic("options"));
}

std::string option_entry(const CommandOptions::Option& option) {
    std::string names;
    for (const std::string& name : option.short_names)
        names += (names.empty() ? "" : ", ") + roff_bold("-" + name);
    for (const std::string& name : option.long_names)
        names += (names.empty() ? "" : ", ") + roff_bold("--" + name);
    if (!option.is_flag()) names += " " + roff_italic(option.value_name);
    return ".TP\n" + names + "\n" + roff_prose(option.description);
}

std::string options_section(const CommandOptions& options, bool common) {
    std::string text = ".SH OPTIONS\n";
    for (const CommandOptions::Option& option : options.all())
        if (option.common == common) text += option_entry(option);
    return text;
}

std::string examples_section(const std::vector<Example>& examples) {
    std::string text = ".SH EXAMPLES\n";
    for (const Example& example : examples)
        text += ".TP\n" + roff_bold("heapsift " + example.command) + "\n" + roff_prose(example.remark);
    return text;
}

std::string terms_section(const std::string& heading, const std::vector<Term>& terms) {
    std::string text = ".SH " + heading + "\n";
    for (const Term& term : terms) text += ".TP\n" + roff_bold(term.name) + "\n" + roff_prose(term.meaning);
    return text;
}

std::string see_also(const std::vector<std::string>& pages) {
    std::string text = ".SH SEE ALSO\n";
    for (const std::string& page : pages)
        text += ".BR \\%" + roff(page, true) + " (1)" + (&page == &pages.back() ? "\n" : ",\n");
    return text;
}

std::string last_sections(std::vector<std::string> pages) {
    return terms_section("EXIT STATUS", exit_codes()) +
           terms_section("ENVIRONMENT", environment_variables()) +
           terms_section("FILES", files_of_heapsift()) + see_also(pages);
}

/// The other commands that the examples of a command call.
std::vector<std::string> pages_beside(const CommandText& text) {
    std::vector<std::string> pages = {"heapsift"};
    for (const Example& example : text.examples) {
        const std::string first = example.command.substr(0, example.command.find(' '));
        const std::string page = "heapsift-" + first;
        if (first != text.command && !text_of_command(first).command.empty() &&
            std::find(pages.begin(), pages.end(), page) == pages.end())
            pages.push_back(page);
    }
    return pages;
}

}  // namespace

std::string manual_page(const DeclaredCommands& commands) {
    std::string text = page_head("heapsift", "shows what fills the memory of a Python process");
    text += ".SH SYNOPSIS\n" + roff_bold("heapsift") + "\n" + usage_words("[COMMAND] [CORE] [ADDRESS]") +
            " [" + roff_italic("options") + "]\n";
    text += ".SH DESCRIPTION\n" + roff_prose(text_of_heapsift()) + ".SH COMMANDS\n";
    std::vector<std::string> pages;
    for (const auto& one : commands) {
        const Command& command = one->command;
        text += fmt::format(".TP\n{} {}\n{}", roff_bold(command.words.name), usage_words(command.usage),
                            roff_prose(command.summary));
        pages.push_back("heapsift-" + command.words.name);
    }
    text += options_section(commands.front()->options, true);
    text += ".TP\n" + roff_bold("--version") + "\n" + roff_prose("the version");
    text += examples_section(examples_of_heapsift());
    pages.insert(pages.end(), {"gcore", "coredumpctl"});
    return text + last_sections(std::move(pages));
}

std::string manual_page(const DeclaredCommand& declared) {
    const Command& command = declared.command;
    const std::string& name = command.words.name;
    const CommandText& more = text_of_command(name);
    std::string text = page_head("heapsift-" + name, command.summary) + synopsis(name, command.usage);
    text += ".SH DESCRIPTION\n" + roff_prose(more.description.empty() ? command.summary : more.description);
    if (command.words.takes_topics) {
        text += ".PP\nThe topics are:\n";
        for (const std::string& topic : help_topics())
            text += ".TP\n" + roff_bold(topic) + "\nheapsift help " + roff(topic) + "\n";
    }
    if (command.details) text += roff_layout(command.details());
    text += options_section(declared.options, false);
    text += ".PP\nThe options of every command are described in\n.BR \\%heapsift (1).\n";
    if (!more.examples.empty()) text += examples_section(more.examples);
    return text + last_sections(pages_beside(more));
}

}  // namespace heapsift
