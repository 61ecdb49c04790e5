// Writing. SIGPIPE is ignored (main.cpp), so a reader that goes away shows here as EPIPE, and the program
// ends as usual.

#include "cli/console.h"

#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

// Standard error is best effort: if it fails, there is nowhere left to say so.
void write_to_standard_error(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void Output::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes) flush();
}

void Output::flush() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int reason = errno;
            buffer_.clear();
            if (reason == EPIPE) throw OutputClosed{};
            throw cannot_analyse("cannot-write",
                                 fmt::format("standard output cannot be written: {}", std::strerror(reason)));
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

void Console::line(std::string_view prefix, std::string_view text, bool broken) const {
    const std::size_t width = broken && is_terminal(STDERR_FILENO) ? terminal_width(STDERR_FILENO) : 0;
    write_to_standard_error(wrapped(fmt::format("{}{}", prefix, shown(text)), width, 2) + "\n");
}

std::string Console::shown(std::string_view text) const {
    return escape_for_terminal(redactor_.message(text));
}

void Console::note(std::string_view text) const {
    if (!quiet_) line("heapsift: ", text, true);
}

void Console::warning(const Diagnostic& diagnostic) const {
    if (!quiet_) line("heapsift: warning: ", message_of(diagnostic), true);
}

void Console::table(std::string_view lines) const {
    if (!quiet_) write_to_standard_error(lines);
}

void Console::error(const Error& error) const {
    line("heapsift: ", error.hint().empty() ? error.message() : error.message() + "; " + error.hint(), false);
}

std::string message_of(const Diagnostic& diagnostic) {
    if (diagnostic.count <= 1) return diagnostic.message;
    return fmt::format("{} (and {} more like it)", diagnostic.message, grouped(diagnostic.count - 1));
}

}  // namespace heapsift
