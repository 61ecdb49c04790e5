// The scripts for the shells (cli/completions) know nothing of heapsift: they hand over the line, and show
// what comes back. So the commands and options that Tab offers are those of the program that is called, and
// there is one place that knows how a line is read.

#include "cli/complete/complete.h"

#include "cli/complete/candidates.h"
#include "cli/complete/kept_type_names.h"
#include "cli/complete/paths.h"
#include "cli/complete/processes.h"
#include "cli/complete/shell_line.h"
#include "cli/index_place.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>

namespace heapsift {
namespace {

std::vector<std::string> types_at_hand(const CompletionSources::CoreAsked& asked) {
    try {
        CoreWishes wishes = asked.wishes;
        if (const char* core = std::getenv("HEAPSIFT_CORE")) wishes.environment = core;
        const CoreChoice choice = choose_core(wishes, CoreInUseStore::from_environment());
        const std::string directory = index_directory(asked.index_dir);
        if (directory.empty()) return {};
        const std::string index = index_path(directory, choice, !asked.no_native);
        return read_type_names(names_path(index), choice.path).value_or(std::vector<std::string>());
    } catch (const Error&) {
        return {};  // no core is in use, or it is gone
    }
}

CompletionSources sources_here() {
    return {[](const std::string& beginning, PathKind kind) { return path_candidates(beginning, kind); },
            [](const std::string& path) {
                std::error_code error;
                return std::filesystem::is_regular_file(path, error);
            },
            [](const std::string& beginning) { return process_candidates(beginning); }, types_at_hand};
}

std::string for_bash(const std::string& breaks, const std::string& line) {
    const ShellLine read = read_shell_line(line, breaks);
    if (read.words.empty()) return {};
    const std::vector<Candidate> found =
        candidates({read.words.begin() + 1, read.words.end()}, read.current, sources_here());
    const bool open = std::all_of(found.begin(), found.end(), [](const Candidate& one) { return one.open; });
    std::string text = open ? "nospace\n" : "space\n";
    for (const Candidate& one : found)
        if (const std::string word = in_shell_line(read, one.value); !word.empty()) text += word + "\n";
    return text;
}

std::string for_others(std::vector<std::string> words, bool marks_open) {
    if (words.empty()) return {};
    const std::string current = words.back();
    words.pop_back();
    std::string text;
    for (const Candidate& one : candidates(words, current, sources_here())) {
        if (marks_open) text += one.open ? '+' : ' ';
        text += one.value + "\t" + one.remark + "\n";
    }
    return text;
}

}  // namespace

std::string complete(const std::vector<std::string>& arguments) {
    try {
        if (arguments.empty()) return {};
        const std::string& shell = arguments.front();
        if (shell == "bash" && arguments.size() == 3) return for_bash(arguments[1], arguments[2]);
        if (shell == "zsh" || shell == "fish")
            return for_others({arguments.begin() + 1, arguments.end()}, shell == "zsh");
    } catch (const std::exception&) {  // nothing to offer
    }
    return {};
}

}  // namespace heapsift
