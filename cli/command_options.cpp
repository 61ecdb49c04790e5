// CLI11 stores every value as text; what the text means is decided in this file, so that an error is one line
// that says what would be right (CLI11's own messages address programmers). An `Error` thrown while CLI11
// parses passes through it.

#include "cli/command_options.h"

#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heapsift {
namespace {

// "--limit" of "-n,--limit": the longest name, which messages use.
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

// "a,,b": "a", "", "b".
std::vector<std::string> divided(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string range_text(std::size_t least, std::size_t most) {
    return most == SIZE_MAX ? fmt::format("a number from {} on", least)
                            : fmt::format("a number from {} to {}", least, most);
}

std::size_t read_number(const std::string& name, const std::string& typed, std::size_t least,
                        std::size_t most) {
    const std::optional<std::int64_t> value = parse_quantity(typed);
    if (!value || static_cast<std::size_t>(*value) < least || static_cast<std::size_t>(*value) > most)
        throw wrong_usage("bad-option", fmt::format("{} {}: {} is needed", name, shell_quoted(typed),
                                                    range_text(least, most)));
    return static_cast<std::size_t>(*value);
}

}  // namespace

struct CommandOptions::Parser {
    std::string command;
    CLI::App app;

    // A value is one word, whatever it looks like; `read` gets each text that counts.
    CLI::Option* add(const std::string& names, std::function<void(const std::string&)> read,
                     const std::string& description,
                     CLI::MultiOptionPolicy policy = CLI::MultiOptionPolicy::TakeLast) {
        const auto take = [read = std::move(read)](const CLI::results_t& texts) {
            for (const std::string& text : texts) read(text);
            return true;
        };
        return app.add_option(names, take, description)
            ->type_size(1)
            ->expected(1)
            ->multi_option_policy(policy);
    }
};

CommandOptions::CommandOptions(const std::string& command, const std::string& summary)
    : parser_(new Parser{command, CLI::App(summary, command)}) {
    parser_->app.set_help_flag("-h,--help", "this help");
    parser_->app.option_defaults()->take_last();
    declare("-h,--help", "", "this help");
}

CommandOptions::~CommandOptions() = default;

CommandOptions::Option& CommandOptions::declare(const std::string& names, const std::string& value_name,
                                                const std::string& description, ValueKind kind) {
    Option& option = declared_.emplace_back();
    for (const std::string& name : divided(names))
        (name.starts_with("--") ? option.long_names : option.short_names)
            .push_back(name.substr(name.find_first_not_of('-')));
    option.value_name = value_name;
    option.description = description;
    option.common = common_;
    option.kind = kind;
    return option;
}

void CommandOptions::flag(const std::string& names, bool& given, const std::string& description) {
    flag(
        names, [&given] { given = true; }, description);
}

void CommandOptions::flag(const std::string& names, std::function<void()> given,
                          const std::string& description) {
    parser_->app.add_flag_callback(names, std::move(given), description);
    declare(names, "", description);
}

void CommandOptions::text(const std::string& names, std::string& value, const std::string& value_name,
                          const std::string& description, Repeated repeated, ValueKind kind) {
    const bool once = repeated == Repeated::refused;
    const auto read = [&value, once, name = long_name(names)](const std::string& typed) {
        if (once && !value.empty()) throw wrong_usage("bad-option", name + " is given twice", "give it once");
        value = typed;
    };
    parser_->add(names, read, description,
                 once ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
    declare(names, value_name, description, kind);
}

void CommandOptions::text(const std::string& names, std::string& value, const std::string& value_name,
                          const std::string& description, ValueKind kind) {
    text(names, value, value_name, description, Repeated::last_counts, kind);
}

void CommandOptions::text_of_parts(const std::string& names, std::string& value,
                                   const std::string& value_name, const std::string& description,
                                   std::vector<std::string> words) {
    text(names, value, value_name, description);
    declared_.back().words = std::move(words);
    declared_.back().words_begin = true;
}

void CommandOptions::texts(const std::string& names, std::vector<std::string>& values,
                           const std::string& value_name, const std::string& description,
                           std::vector<std::string> words) {
    const auto read = [&values](const std::string& typed) {
        for (std::string& part : divided(typed)) values.push_back(std::move(part));
    };
    parser_->add(names, read, description, CLI::MultiOptionPolicy::TakeAll);
    Option& option = declare(names, value_name, description);
    option.several = true;
    option.words = std::move(words);
}

void CommandOptions::choice(const std::string& names, std::vector<std::string> words,
                            std::function<void(std::size_t)> chosen, const std::string& description) {
    const std::string value_name = fmt::format("{}", fmt::join(words, "|"));
    const auto choose = [words, chosen = std::move(chosen),
                         name = long_name(names)](const std::string& typed) {
        const auto found = std::find(words.begin(), words.end(), typed);
        if (found == words.end())
            throw wrong_usage("bad-option", fmt::format("{} {} is not a choice", name, shell_quoted(typed)),
                              fmt::format("choose {}", fmt::join(words, ", ")));
        chosen(static_cast<std::size_t>(found - words.begin()));
    };
    parser_->add(names, choose, description);
    declare(names, value_name, description, ValueKind::choice).words = std::move(words);
}

void CommandOptions::number(const std::string& names, std::optional<std::size_t>& value,
                            const std::string& description, std::size_t least, std::size_t most) {
    const auto read = [&value, least, most, name = long_name(names)](const std::string& typed) {
        value = read_number(name, typed, least, most);
    };
    parser_->add(names, read, description);
    declare(names, "N", description, ValueKind::number);
}

const CommandOptions::Option* CommandOptions::find(const std::string& name) const {
    const bool is_long = name.starts_with("--");
    const std::string bare = name.substr(std::min<std::size_t>(is_long ? 2 : 1, name.size()));
    const auto found = std::find_if(declared_.begin(), declared_.end(), [&](const Option& option) {
        const std::vector<std::string>& names = is_long ? option.long_names : option.short_names;
        return std::find(names.begin(), names.end(), bare) != names.end();
    });
    return found == declared_.end() ? nullptr : &*found;
}

void CommandOptions::parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 wants
    try {
        parser_->app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        std::string message = error.what();
        std::replace(message.begin(), message.end(), '\n', ' ');
        throw wrong_usage("bad-option", message,
                          command_line(parser_->command + " --help") + " says what it takes");
    }
}

}  // namespace heapsift
