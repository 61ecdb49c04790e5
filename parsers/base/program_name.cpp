// A command is looked up as a shell does it (POSIX 2.9.1.4): the first executable file of that name in the
// directories of PATH, where an empty entry means the current one. Files are compared by device and inode, so
// a link to the program counts as the program.

#include "parsers/base/program_name.h"

#include "parsers/base/text.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace heapsift {
namespace {

std::optional<struct stat> executable_file(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || ::access(path.c_str(), X_OK) != 0)
        return std::nullopt;
    return facts;
}

std::optional<struct stat> found_in_path(std::string_view path, const std::string& command) {
    if (path.empty()) return std::nullopt;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const std::string directory(path.substr(begin, end - begin));
        if (const auto file = executable_file((directory.empty() ? "." : directory) + "/" + command))
            return file;
        begin = end + 1;
    }
    return std::nullopt;
}

std::optional<struct stat> file_of_command(const ProgramCall& call, const std::string& command) {
    if (command.empty()) return std::nullopt;
    return command.find('/') == std::string::npos ? found_in_path(call.path, command)
                                                  : executable_file(command);
}

// Shells take a first word with = in it for an assignment, unless it is quoted.
std::string quoted_command(const std::string& command) {
    const std::string quoted = shell_quoted(command);
    return quoted == command && command.find('=') != std::string::npos ? "'" + command + "'" : quoted;
}

std::string& settled_name() {
    static std::string name = default_program_name;
    return name;
}

}  // namespace

std::string program_name_of(const ProgramCall& call) {
    const auto running = executable_file(call.program_file);
    const auto is_running = [&](const std::optional<struct stat>& file) {
        return file && running && running->st_dev == file->st_dev && running->st_ino == file->st_ino;
    };
    if (is_running(found_in_path(call.path, default_program_name))) return default_program_name;
    if (const auto typed = file_of_command(call, call.typed); typed && (!running || is_running(typed)))
        return quoted_command(call.typed);
    std::error_code error;
    const std::string file = std::filesystem::canonical(call.program_file, error).string();
    return error ? default_program_name : quoted_command(file);
}

void settle_program_name(std::string name) { settled_name() = std::move(name); }

const std::string& program_name() { return settled_name(); }

std::string command_line(std::string_view words) { return program_name() + " " + std::string(words); }

}  // namespace heapsift
