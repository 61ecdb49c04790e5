// Completion must answer while a key is held down, whatever the size of the core. Even a warm index takes too
// long for that: the modules of the core have to be found before its key is known, and names are read from the
// core itself. So whoever writes the index writes the names of types beside it, as lines, below a line that
// says of which core they are: device, inode, size and time of change (parsers/base/cache_file.h). A stranger
// who can write this file could do no more than offer wrong names: they are quoted for the shell all the same.

#include "cli/complete/kept_type_names.h"

#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::string_view first_line = "heapsift names of types 1\n", last_line = "end\n";
constexpr std::size_t most_to_write = 2 << 20, most_to_read = 4 << 20;

std::string head_for(const std::string& core) {
    const std::string stamp = stamp_of(core);
    return stamp.empty() ? std::string() : std::string(first_line) + stamp + "\n";
}

/// The file's first bytes; nothing if it is not this user's own.
std::string beginning_of(const std::string& path, std::size_t most) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !is_own_file(status)) return {};
    std::string text(std::min<std::size_t>(most, static_cast<std::size_t>(status.st_size)), '\0');
    const ssize_t count = ::read(file.number(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

}  // namespace

std::optional<std::vector<std::string>> read_type_names(const std::string& path, const std::string& core) {
    const std::string head = head_for(core), text = beginning_of(path, most_to_read);
    const std::string_view whole = text;
    if (head.empty() || whole.substr(0, head.size()) != head) return std::nullopt;
    std::string_view rest = whole.substr(head.size());
    if (rest.size() < last_line.size() || rest.substr(rest.size() - last_line.size()) != last_line)
        return std::nullopt;
    rest.remove_suffix(last_line.size());
    std::vector<std::string> names;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        names.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (names.back().empty() || escape_for_terminal(names.back()) != names.back()) names.pop_back();
    }
    return names;
}

bool has_type_names(const std::string& path, const std::string& core) {
    const std::string head = head_for(core);
    return !head.empty() && beginning_of(path, head.size()) == head;
}

void keep_type_names(const std::string& path, const std::string& core,
                     const std::vector<std::string>& names) {
    std::string text = head_for(core);
    if (text.empty()) return;
    for (const std::string& name : names) {
        if (text.size() + name.size() > most_to_write) break;
        if (!name.empty() && escape_for_terminal(name) == name) text += name + "\n";
    }
    text += last_line;
    NewFile file(path);
    if (!file.is_open()) return;
    if (::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) file.finish();
}

}  // namespace heapsift
