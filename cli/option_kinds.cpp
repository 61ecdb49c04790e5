// Option values. `Error` passes through CLI11 untouched.

#include "cli/option_kinds.h"

#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace heapsift {
namespace {

// "-n,--limit": the longest name, as messages call it.
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

}  // namespace

void add_choice(CLI::App& app, const std::string& names, std::vector<std::string> words, std::function<void(std::size_t)> set,
                const std::string& description) {
    const std::string type_name = fmt::format("{}", fmt::join(words, "|"));
    const auto choose = [words, set, name = long_name(names)](const std::string& typed) {
        const auto found = std::find(words.begin(), words.end(), typed);
        if (found == words.end())
            throw wrong_usage("bad-option", fmt::format("{} {}: there is no such choice", name, shell_quoted(typed)),
                              fmt::format("it is one of {}", fmt::join(words, ", ")));
        set(static_cast<std::size_t>(found - words.begin()));
    };
    app.add_option_function<std::string>(names, choose, description)->type_name(type_name);
}

void add_number(CLI::App& app, const std::string& names, std::optional<std::size_t>& number, const std::string& description) {
    const auto read = [&number, name = long_name(names)](const std::string& typed) {
        const std::optional<std::int64_t> value = parse_quantity(typed);
        if (!value)
            throw wrong_usage("bad-option", fmt::format("{} {}: a number from 0 on is needed", name, shell_quoted(typed)));
        number = static_cast<std::size_t>(*value);
    };
    app.add_option_function<std::string>(names, read, description)->type_name("N");
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string value_name(const CLI::Option& option) {
    const std::string name = is_flag(option) ? "" : option.get_type_name();
    return name.substr(0, name.find(':'));  // CLI11 adds the names of validators
}

}  // namespace heapsift
