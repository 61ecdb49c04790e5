// A compressed core is kept as it came, so that the disk needs no more room than the stream; it is unpacked when it is
// read.

#include "cli/piped_core.h"

#include "cli/core_paths.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/elf/unpacking.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t block = 1 << 20, bytes_that_tell = 6;

Descriptor nameless_file(const std::string& directory) {
    for (const std::string& folder : {directory, std::string("/var/tmp"), std::string("/tmp")}) {
        if (folder.empty()) continue;
        ::mkdir(folder.c_str(), 0700);
        Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
        if (file.is_open()) return file;
        std::string name = folder + "/heapsift-XXXXXX";
        file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
        if (!file.is_open()) continue;
        ::unlink(name.c_str());
        return file;
    }
    throw cannot_analyse("cannot-write",
                         fmt::format("a core from standard input cannot be kept: {}", system_reason(errno)));
}

/// Fewer than asked for at the end.
std::size_t read_all(int input, char* to, std::size_t count) {
    std::size_t have = 0;
    while (have < count) {
        const ssize_t got = ::read(input, to + have, count - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

void write_all(int file, const char* from, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
        const ssize_t written = ::write(file, from + done, count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            throw cannot_analyse("cannot-write", fmt::format("a core from standard input cannot be kept: {}",
                                                             system_reason(written < 0 ? errno : ENOSPC)));
        done += static_cast<std::size_t>(written);
    }
}

bool is_core_or_packed(const char* start, std::size_t count) {
    return count >= bytes_that_tell &&
           (std::memcmp(start, "\177ELF", 4) == 0 ||
            compression_of(std::as_bytes(std::span(start, count))) != Compression::none);
}

bool is_text(std::string_view text) {
    constexpr std::size_t enough = 4096;
    const bool goes_on = text.size() > enough;
    text = text.substr(0, enough);
    while (!text.empty()) {
        const DecodedCharacter c = decode_utf8(text);
        const bool cut = goes_on && text.size() < 4;  // a character at the end
        const bool control =
            c.value < 0x20 && c.value != '\n' && c.value != '\r' && c.value != '\t' && c.value != 0;
        if ((!c.valid && !cut) || (c.valid && control)) return false;
        text.remove_prefix(c.bytes);
    }
    return true;
}

/// Of what does not begin as a core.
bool is_list(const std::string& text) {
    if (text.empty()) return false;  // of a core nothing came
    const std::vector<std::string> paths = listed_paths(text);
    if (paths.empty()) return std::find(text.begin(), text.end(), '\0') == text.end();
    if (is_text(text)) return true;
    // Of something else a line may be "/" by chance.
    const auto there = std::count_if(paths.begin(), paths.end(), [](const std::string& path) {
        struct stat facts {};
        return ::lstat(path.c_str(), &facts) == 0;
    });
    return static_cast<std::size_t>(2 * there) >= paths.size();
}

PipedInput read_input(int input, const std::string& directory) {
    PipedInput found;
    std::vector<char> buffer(block);
    std::size_t have = read_all(input, buffer.data(), bytes_that_tell);
    const bool is_core = is_core_or_packed(buffer.data(), have);
    if (is_core) found.core = nameless_file(directory);
    while (have > 0) {
        if (is_core)
            write_all(found.core.number(), buffer.data(), have);
        else
            found.text.append(buffer.data(), have);
        have = read_all(input, buffer.data(), buffer.size());
    }
    if (is_core || is_list(found.text)) return found;
    found.core = nameless_file(directory);
    write_all(found.core.number(), found.text.data(), found.text.size());
    found.text.clear();
    return found;
}

}  // namespace

std::string PipedInput::core_path() const { return fmt::format("/proc/self/fd/{}", core.number()); }

PipedInput read_piped_input(int input, const std::string& directory) {
    try {
        return read_input(input, directory);
    } catch (const Error& error) {
        PipedInput nothing;
        nothing.failure = error;
        return nothing;
    }
}

}  // namespace heapsift
