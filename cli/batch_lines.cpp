#include "cli/batch_lines.h"

#include "cli/console.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/elf/core_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>

namespace heapsift {
namespace {

constexpr std::string_view first_of_line = R"({"schema":"heapsift.batch/)";

/// Whether it is the beginning of a line, and not all of it.
bool is_unfinished(const std::string& text) {
    const std::string_view first = std::string_view(text).substr(0, first_of_line.size());
    return first_of_line.starts_with(first) && !Json::accept(text);
}

/// Where the last whole line ends.
off_t end_of_lines(int file, off_t size) {
    std::array<char, 1 << 16> buffer;
    for (off_t end = size; end > 0;) {
        const off_t from =
            end > static_cast<off_t>(buffer.size()) ? end - static_cast<off_t>(buffer.size()) : 0;
        const ssize_t got = ::pread(file, buffer.data(), static_cast<std::size_t>(end - from), from);
        if (got <= 0) return 0;
        for (ssize_t i = got; i-- > 0;)
            if (buffer[static_cast<std::size_t>(i)] == '\n') return from + i + 1;
        end = from;
    }
    return 0;
}

bool is_accident(const std::string& code) { return code == "killed" || code == "not-started"; }

const Json* member_of(const Json& of, const char* key) {
    const auto at = of.is_object() ? of.find(key) : of.end();
    return at == of.end() ? nullptr : &*at;
}

std::string text_of(const Json& of, const char* key) {
    const Json* found = member_of(of, key);
    return found && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

LinesFile::LinesFile(const std::string& path, bool go_on) : name_(escape_for_terminal(path)) {
    file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
    struct stat facts {};
    if (!file_.is_open() || ::fstat(file_.number(), &facts) != 0)
        throw wrong_usage("cannot-create", fmt::format("-o {}: {}", name_, system_reason(errno)));
    if (!S_ISREG(facts.st_mode)) throw wrong_usage("not-a-file", fmt::format("-o {}: is no file", name_));
    // The children of one that was killed have its lock for a moment more.
    constexpr int most_tries = 100;
    constexpr useconds_t between = 20'000;
    int tries = 0;
    while (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
        if (++tries < most_tries) {
            ::usleep(between);
            continue;
        }
        throw wrong_usage("output-in-use", fmt::format("-o {}: another batch writes it", name_),
                          "a file for each of them; cat joins them");
    }
    if (::fstat(file_.number(), &facts) != 0)
        throw wrong_usage("cannot-create", fmt::format("-o {}: {}", name_, system_reason(errno)));
    if (facts.st_size > 0 && !go_on)
        throw wrong_usage("output-exists", fmt::format("-o {}: exists", name_),
                          fmt::format("--resume {} goes on with it", shell_quoted(path)));
    const off_t end = end_of_lines(file_.number(), facts.st_size);
    if (end == facts.st_size) return;
    std::string last(static_cast<std::size_t>(facts.st_size - end), '\0');
    const bool read =
        ::pread(file_.number(), last.data(), last.size(), end) == static_cast<ssize_t>(last.size());
    if (read && !is_unfinished(last))
        write("\n");
    else if (::ftruncate(file_.number(), end) != 0)
        throw wrong_usage("cannot-create", fmt::format("-o {}: {}", name_, system_reason(errno)));
}

void LinesFile::write(const std::string& line) {
    const off_t before = ::lseek(file_.number(), 0, SEEK_END);
    ssize_t written = 0;
    do written = ::write(file_.number(), line.data(), line.size());
    while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(line.size())) return;
    const int reason = written < 0 ? errno : ENOSPC;
    if (before >= 0) [[maybe_unused]]
        const int cut = ::ftruncate(file_.number(), before);
    throw cannot_analyse("cannot-write", fmt::format("-o {}: {}", name_, system_reason(reason)));
}

bool may_be_lines(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    // Its first line has to be one, or the beginning of one that was cut off; else nothing may be written behind it.
    std::string first(first_of_line.size(), '\0');
    in.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return first_of_line.starts_with(first);
}

std::string path_in_line(std::string_view path) {
    std::string text;
    while (!path.empty()) {
        const DecodedCharacter c = decode_utf8(path);
        const std::string_view bytes = path.substr(0, std::max<std::size_t>(c.bytes, 1));
        if (c.valid)
            text += bytes;
        else
            for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        path.remove_prefix(bytes.size());
    }
    return text;
}

void AnsweredCores::add_lines(const std::string& path) {
    struct stat facts {
    }, nothing{};
    if (::stat(path.c_str(), &facts) == 0) {
        const bool is_null = ::stat("/dev/null", &nothing) == 0 && facts.st_rdev == nothing.st_rdev;
        const bool is_device = (S_ISCHR(facts.st_mode) && !is_null) || S_ISBLK(facts.st_mode);
        if (S_ISDIR(facts.st_mode) || is_device)
            throw wrong_usage("no-lines",
                              fmt::format("--resume {}: is a {}, and no file of lines",
                                          escape_for_terminal(path), is_device ? "device" : "folder"));
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return;
        throw wrong_usage("no-lines",
                          fmt::format("--resume {}: {}", escape_for_terminal(path), system_reason(errno)));
    }
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) add_line(Json::parse(line, nullptr, false));
}

/// Whether what it ended by was an accident, or a limit that is larger now.
bool AnsweredCores::is_worth_more(const Json& line) const {
    const Json* error = member_of(line, "error");
    const std::string code = error ? text_of(*error, "code") : std::string();
    const auto is_larger = [&](const char* name, std::uint64_t now) {
        const Json* limits = member_of(line, "limits");
        const Json* then = limits ? member_of(*limits, name) : nullptr;
        return then && then->is_number_unsigned() && (now == 0 || now > then->get<std::uint64_t>());
    };
    if (code == "timed-out") return is_larger("timeout", limits_.seconds);
    if (code == "too-little-memory" || code == "out-of-memory")
        return is_larger("max_memory", limits_.memory);
    return is_accident(code);
}

void AnsweredCores::add_line(const Json& line) {
    if (text_of(line, "schema") != batch_schema) {
        ++skipped_;
        return;
    }
    if (is_worth_more(line)) return;
    if (std::string key = text_of(line, "identity"); !key.empty())
        keys_.insert(std::move(key));
    else
        paths_.insert(text_of(line, "path"));
}

bool AnsweredCores::has(const std::string& key, const std::string& path, std::uint64_t file_bytes) const {
    if (key.empty()) return paths_.count(path) > 0;
    return keys_.count(key) > 0 || keys_.count(cut_core_key(key, file_bytes)) > 0;
}

bool Shard::has(const std::string& path) const {
    return count == 1 || XXH3_64bits(path.data(), path.size()) % count == number - 1;
}

Shard shard_of(const std::string& text) {
    constexpr std::size_t most = 100'000;
    Shard shard;
    const std::size_t slash = text.find('/');
    const auto read = [](std::string_view digits, std::size_t& number) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        return !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
    };
    if (slash == std::string::npos || !read(std::string_view(text).substr(0, slash), shard.number) ||
        !read(std::string_view(text).substr(slash + 1), shard.count) || shard.number < 1 ||
        shard.number > shard.count || shard.count > most)
        throw wrong_usage("bad-option",
                          fmt::format("--shard {}: a part and how many there are is needed, as 2/8",
                                      escape_for_terminal(text)));
    return shard;
}

}  // namespace heapsift
