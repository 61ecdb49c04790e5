// A file that was named always gets a line; a file found in a directory only if it is a core. Subdirectories
// are skipped, since a path typed too short would mean a whole disk; find(1) and "-" go deeper.

#include "cli/core_paths.h"

#include "cli/units.h"
#include "parsers/base/text.h"
#include "parsers/elf/core_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

void add_directory(CorePaths& found, const std::string& directory) {
    std::vector<std::string> names;
    std::size_t others = 0, folders = 0;
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        const std::string path = at->path().string();
        if (at->is_directory(ignored))
            ++folders;
        else if (looks_like_core(path))
            names.push_back(path);
        else
            ++others;
    }
    const std::string name = escape_for_terminal(directory);
    if (error)
        found.notes.push_back(
            fmt::format("{}: not all of it could be read: {}", name, system_reason(error.value())));
    std::string left_out;
    if (others > 0)
        left_out += "; left out: " + counted(others, "file that is no core", "files that are no cores");
    if (folders > 0) left_out += (others > 0 ? ", " : "; left out: ") + counted(folders, "folder");
    if (names.empty() || !left_out.empty())
        found.notes.push_back(fmt::format(
            "{}: {}{}", name, names.empty() ? "no core" : counted(names.size(), "core"), left_out));
    std::sort(names.begin(), names.end());
    found.paths.insert(found.paths.end(), names.begin(), names.end());
}

void add(CorePaths& found, const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        add_directory(found, path);
    else
        found.paths.push_back(path);
}

void add_list(CorePaths& found, std::istream& input) {
    const std::string text{std::istreambuf_iterator<char>(input), {}};
    const char end = text.find('\0') == std::string::npos ? '\n' : '\0';
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find(end, from), text.size());
        if (to > from) add(found, text.substr(from, to - from));
        from = to + 1;
    }
}

}  // namespace

CorePaths find_core_paths(std::span<const std::string> words, std::istream& input, const std::string& piped) {
    CorePaths found;
    for (const std::string& word : words) {
        if (word == "-" && !piped.empty())
            found.paths.push_back(piped);
        else if (word == "-")
            add_list(found, input);
        else
            add(found, word);
    }
    return found;
}

}  // namespace heapsift
