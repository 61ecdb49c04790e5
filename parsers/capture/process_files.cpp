// A process number is given again once its process is gone. So the folder /proc/PID is opened once, and everything is
// opened relative to it: after the end of the process that fails with ESRCH or ENOENT, and never answers for another.
//
// Source: proc(5); Linux's fs/proc/array.c.

#include "parsers/capture/process_files.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>

#include <dirent.h>

namespace heapsift {
namespace {

std::int64_t number_of(std::string_view text) {
    std::int64_t value = 0;
    std::uint64_t large = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
    std::from_chars(text.data(), text.data() + text.size(), large);
    return static_cast<std::int64_t>(large);
}

/// What cannot be opened for want of descriptors has not gone.
void require_descriptors(pid_t pid, int opened) {
    if (opened >= 0 || (errno != EMFILE && errno != ENFILE)) return;
    throw cannot_analyse(
        "too-many-files",
        fmt::format("{}: heapsift may not open as many files as it takes: {}", pid, system_reason(errno)),
        "ulimit -n 64, or more");
}

}  // namespace

ProcessFiles::ProcessFiles(pid_t pid)
    : pid_(pid), folder_(::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_.is_open()) return;
    require_descriptors(pid, folder_.number());
    if (::access("/proc/self/stat", F_OK) != 0)
        throw cannot_analyse("no-proc", "/proc is not mounted, and a living process is read through it",
                             "mount -t proc proc /proc");
    throw cannot_analyse("no-such-process", fmt::format("{}: no such process", pid),
                         "ps -e lists those there are");
}

Descriptor ProcessFiles::open(const std::string& name, int flags) const {
    const int file = ::openat(folder_.number(), name.c_str(), flags | O_CLOEXEC);
    require_descriptors(pid_, file);
    return Descriptor(file);
}

std::optional<std::string> ProcessFiles::read(const std::string& name, int* reason) const {
    const Descriptor file = open(name, O_RDONLY);
    std::string text;
    std::size_t step = 1 << 16;
    for (std::size_t size = 0;;) {
        text.resize(size + step);
        const ssize_t got = file.is_open() ? ::read(file.number(), text.data() + size, step) : -1;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            if (reason) *reason = errno;
            return std::nullopt;
        }
        size += static_cast<std::size_t>(got);
        if (got == 0) {
            text.resize(size);
            return text;
        }
    }
}

std::string ProcessFiles::link(const std::string& name) const {
    std::array<char, PATH_MAX> path;
    const ssize_t size = ::readlinkat(folder_.number(), name.c_str(), path.data(), path.size());
    return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

std::vector<std::int32_t> ProcessFiles::numbers_in(const std::string& name) const {
    std::vector<std::int32_t> found;
    const int folder = ::openat(folder_.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require_descriptors(pid_, folder);
    if (folder < 0) return found;
    DIR* entries = ::fdopendir(folder);
    if (!entries) {
        ::close(folder);
        return found;
    }
    while (const dirent* entry = ::readdir(entries)) {
        std::int32_t number = 0;
        const std::string_view text = entry->d_name;
        if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
            found.push_back(number);
    }
    ::closedir(entries);
    std::sort(found.begin(), found.end());
    return found;
}

std::string_view status_field(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
        line.remove_prefix(name.size() + 1);
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        return line.substr(0, line.find_last_not_of(" \t") + 1);
    }
    return {};
}

std::optional<ProcessStat> read_stat(std::string_view text) {
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
        text.size() < close + 3)
        return std::nullopt;
    ProcessStat stat;
    stat.name = text.substr(open + 1, close - open - 1);
    stat.state = text[close + 2];
    std::string_view rest = text.substr(close + 3);
    while (!rest.empty()) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
        const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
        if (!word.empty()) stat.fields.push_back(number_of(word));
        rest.remove_prefix(word.size());
    }
    return stat;
}

pid_t own_number(std::string_view status, pid_t otherwise) {
    const std::string_view numbers = status_field(status, "NSpid");  // one for each namespace, ours first
    if (numbers.empty()) return otherwise;
    const std::size_t last = numbers.find_last_of(" \t");
    return static_cast<pid_t>(number_of(last == std::string_view::npos ? numbers : numbers.substr(last + 1)));
}

}  // namespace heapsift
