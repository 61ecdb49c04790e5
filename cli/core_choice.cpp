// The order in which a core is looked for. The core in use is only ever the very file that was named: an
// answer about another core than the reader has in mind is worse than none.

#include "cli/core_choice.h"

#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <filesystem>

namespace heapsift {
namespace {

std::string absolute(const std::string& path) {
    std::error_code error;
    const std::filesystem::path made = std::filesystem::absolute(path, error);
    return path.empty() || error ? path : made.lexically_normal().string();
}

std::string either(const std::string& first, const std::string& second) {
    return first.empty() ? second : first;
}

CoreChoice in_use(const CoreInUse& core, ChosenBy chosen_by, const FileSearch& search) {
    const auto now = identity_of(core.path);
    const std::string hint = "name a core: " + command_line("CORE");
    if (!now)
        throw wrong_usage("core-in-use-gone", fmt::format("{}: the core in use is gone", core.path), hint);
    if (*now != core.identity)
        throw wrong_usage("core-in-use-changed",
                          fmt::format("{}: the core in use has changed since it was named", core.path), hint);
    return {core.path,
            chosen_by,
            {either(search.executable, core.search.executable),
             either(search.sysroot, core.search.sysroot),
             either(search.debug_dir, core.search.debug_dir),
             {},
             search.runtime ? search.runtime : core.search.runtime}};
}

/// A file of this folder that is named as cores are; empty if there is none, or if the chosen one lies here as well. Looks
/// at the first thousand names.
std::string other_core_here(const std::string& chosen) {
    constexpr int most_names = 1000;
    std::error_code error;
    if (std::filesystem::equivalent(std::filesystem::path(chosen).parent_path(), ".", error)) return {};
    error.clear();
    int names = 0;
    for (std::filesystem::directory_iterator at(".", error), end; !error && at != end && names < most_names;
         at.increment(error), ++names) {
        const std::string name = at->path().filename().string();
        std::error_code none;
        const bool numbered =
            name.starts_with("core.") && name.size() > 5 && name[5] >= '0' && name[5] <= '9';
        if ((name == "core" || numbered) && at->is_regular_file(none)) return escape_for_terminal(name);
    }
    return {};
}

bool given(const FileSearch& search) {
    return !search.executable.empty() || !search.sysroot.empty() || !search.debug_dir.empty() ||
           search.runtime.has_value();
}

}  // namespace

CoreChoice choose_core(const CoreWishes& wishes, const CoreInUseStore& store) {
    if (!wishes.argument.empty()) return {wishes.argument, ChosenBy::argument, wishes.search};
    if (!wishes.option.empty()) return {wishes.option, ChosenBy::option, wishes.search};
    if (!wishes.environment.empty()) return {wishes.environment, ChosenBy::environment, wishes.search};
    if (const auto core = store.of_session()) return in_use(*core, ChosenBy::session, wishes.search);
    if (const auto core = store.of_user()) return in_use(*core, ChosenBy::user, wishes.search);
    throw wrong_usage(
        "no-core", "no core was named, and no core is in use",
        "name one: " + command_line("core.1234") + " (how to get one: " + command_line("help capture") + ")");
}

std::string name_of(ChosenBy chosen_by) {
    switch (chosen_by) {
        case ChosenBy::argument:
            return "argument";
        case ChosenBy::option:
            return "option";
        case ChosenBy::environment:
            return "environment";
        case ChosenBy::session:
            return "session";
        case ChosenBy::user:
            return "user";
    }
    return "";
}

std::string why_this_core(const CoreChoice& choice) {
    const auto and_not = [&]() -> std::string {
        const std::string other = other_core_here(choice.path);
        if (other.empty()) return {};
        return fmt::format(", and not this folder's {}: name that one to ask it", other);
    };
    switch (choice.chosen_by) {
        case ChosenBy::environment:
            return fmt::format("using {} (named by HEAPSIFT_CORE)", choice.path);
        case ChosenBy::session:
            return fmt::format("using {} (the core named last in this terminal session){}", choice.path,
                               and_not());
        case ChosenBy::user:
            return fmt::format("using {} (the core you named last, in another session){}", choice.path,
                               and_not());
        case ChosenBy::argument:
        case ChosenBy::option:
            break;
    }
    return {};
}

bool remember_core(const CoreChoice& choice, const CoreWishes& wishes, const CoreInUseStore& store) {
    const bool named = choice.chosen_by == ChosenBy::argument || choice.chosen_by == ChosenBy::option;
    if (choice.chosen_by == ChosenBy::environment || (!named && !given(wishes.search))) return true;
    const auto identity = identity_of(choice.path);
    return identity &&
           store.remember({absolute(choice.path),
                           *identity,
                           {absolute(choice.search.executable),
                            absolute(choice.search.sysroot),
                            absolute(choice.search.debug_dir),
                            {},
                            choice.search.runtime}}) &&
           wishes.environment.empty();
}

}  // namespace heapsift
