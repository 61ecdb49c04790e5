// Progress. Quick work shows nothing: a line that appears and vanishes is noise.

#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heapsift {
namespace {

void write_line(std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(When when)
    : wanted_(when == When::always || (when == When::automatic && is_terminal(STDERR_FILENO))) {}

ProgressCallback Progress::callback() {
    if (!wanted_) return {};
    return [this](std::string_view pass, double done) { show(pass, done); };
}

void Progress::show(std::string_view pass, double done) {
    using namespace std::chrono_literals;
    const Clock::time_point now = Clock::now();
    if (now - start_ < 1s || now - last_ < 100ms) return;
    last_ = now;
    visible_ = true;
    write_line(fmt::format("\r\x1b[K{} {:.0f} %", pass, 100 * std::clamp(done, 0.0, 1.0)));
}

void Progress::clear() {
    if (visible_) write_line("\r\x1b[K");
    visible_ = false;
}

}  // namespace heapsift
