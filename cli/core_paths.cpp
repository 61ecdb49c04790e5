// A file that was named always gets a line; a file found in a directory only if it is a core, or may be one: whoever
// looks after a folder of cores must hear of a link to nowhere and of a core that root alone may read. Subdirectories are
// skipped, since a path typed too short would mean a whole disk; find(1) and "-" go deeper.

#include "cli/core_paths.h"

#include "cli/units.h"
#include "parsers/base/descriptor.h"
#include "parsers/base/text.h"
#include "parsers/elf/core_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

/// A file of which it cannot be told what it is.
bool cannot_be_read(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return true;
    return S_ISREG(facts.st_mode) && !Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).is_open();
}

bool may_be_core(const std::string& path) { return looks_like_core(path) || cannot_be_read(path); }

void add_directory(CorePaths& found, const std::string& directory) {
    std::vector<std::string> names;
    std::size_t others = 0, folders = 0;
    std::error_code error;
    fs::directory_iterator at(directory, error);
    if (error) return found.paths.push_back(directory);  // its line says why
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        const std::string path = at->path().string();
        if (at->is_directory(ignored))
            ++folders;
        else if (may_be_core(path))
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

class CoreWords {
public:
    CoreWords(CorePaths& found, bool only_cores) : found_(found), only_cores_(only_cores) {}

    void add(const std::string& path) {
        std::error_code ignored;
        if (fs::is_directory(path, ignored))
            add_directory(found_, path);
        else
            add_file(path);
    }

    void add_file(const std::string& path) {
        if (only_cores_ && !may_be_core(path))
            ++left_out_;
        else
            found_.paths.push_back(path);
    }

    void add_list(std::istream& input) {
        const std::string text{std::istreambuf_iterator<char>(input), {}};
        const std::vector<std::string> paths = listed_paths(text);
        const bool one_is_there = std::any_of(paths.begin(), paths.end(), is_there);
        if (!paths.empty() && !one_is_there)
            found_.notes.push_back(
                "standard input is no core, so it was read as a list of paths: nothing is at any of them");
        for (const std::string& path : paths) add(path);
    }

    void note_left_out() {
        if (left_out_ > 0)
            found_.notes.push_back("left out: " +
                                   counted(left_out_, "file that is no core", "files that are no cores"));
    }

private:
    static bool is_there(const std::string& path) {
        struct stat facts {};
        return ::lstat(path.c_str(), &facts) == 0;
    }

    CorePaths& found_;
    bool only_cores_;
    std::size_t left_out_ = 0;
};

}  // namespace

std::vector<std::string> listed_paths(std::string_view text) {
    std::vector<std::string> paths;
    const char end = text.find('\0') == std::string_view::npos ? '\n' : '\0';
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find(end, from), text.size());
        if (to > from) paths.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    return paths;
}

CorePaths find_core_paths(std::span<const std::string> words, std::istream& input, const std::string& piped,
                          bool only_cores) {
    CorePaths found;
    CoreWords all(found, only_cores);
    for (const std::string& word : words) {
        if (word == "-" && !piped.empty())
            all.add_file(piped);
        else if (word == "-")
            all.add_list(input);
        else
            all.add(word);
    }
    all.note_left_out();
    return found;
}

}  // namespace heapsift
