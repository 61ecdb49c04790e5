// Reading /proc and control groups. Their files have no size and are made when they are read, so one read of
// enough bytes is one moment.

#include "parsers/process/proc_file.h"

#include "parsers/base/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace heapsift {
namespace {

// linux/magic.h
constexpr long control_groups_v1 = 0x27e0eb, control_groups_v2 = 0x63677270;

bool is_of(int file, ProcFileOf what) {
    struct stat facts {};
    if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    if (what == ProcFileOf::anything) return true;
    struct statfs system {};
    return ::fstatfs(file, &system) == 0 &&
           (system.f_type == control_groups_v1 || system.f_type == control_groups_v2);
}

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t from = text.find_first_not_of(blanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path, std::size_t most, ProcFileOf what) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    if (!file.is_open() || !is_of(file.number(), what)) return std::nullopt;
    std::string text(most, '\0');
    std::size_t filled = 0;
    while (filled < most) {
        const ssize_t got = ::read(file.number(), text.data() + filled, most - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;  // ESRCH: the process has gone
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    text.resize(filled);
    return text;
}

std::optional<std::string_view> line_of(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (text.substr(0, end).starts_with(key))
            return without_blanks(text.substr(key.size(), end - key.size()));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

std::optional<std::uint64_t> leading_number(std::string_view text, int base) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), number, base);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace heapsift
