// Progress. Quick work shows nothing: a line that appears and vanishes is noise.

#include "cli/progress.h"

#include "cli/units.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heapsift {
namespace {

void write_line(std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_line(std::string_view pass, double done, double seconds, std::uint64_t core_bytes) {
    constexpr double least_seconds = 0.5, least_share = 0.02;  // before that, a guess would jump
    done = std::clamp(done, 0.0, 1.0);
    if (done < least_share)
        return seconds < 1 ? std::string(pass) : fmt::format("{}, {:.0f} s so far", pass, seconds);
    std::string line = fmt::format("{}, {:.0f} %", pass, 100 * done);
    const double left = seconds * (1 - done) / done;
    if (seconds >= least_seconds && core_bytes > 0)
        line += fmt::format(
            ", {} of the core a second",
            binary_size(static_cast<std::uint64_t>(static_cast<double>(core_bytes) * done / seconds)));
    if (seconds >= least_seconds && left >= 1)
        line += left < 120 ? fmt::format(", some {:.0f} s left", left)
                           : fmt::format(", some {:.0f} min left", left / 60);
    return line;
}

Progress::Progress(When when)
    : wanted_(when == When::always || (when == When::automatic && is_terminal(STDERR_FILENO))) {}

ProgressCallback Progress::callback() {
    if (!wanted_) return {};
    return [this](std::string_view pass, double done) { show(pass, done); };
}

void Progress::show(std::string_view pass, double done) {
    using namespace std::chrono_literals;
    const Clock::time_point now = Clock::now();
    // Where the share goes on, it is the same work: a batch counts its cores in the name.
    if (pass != pass_ && done <= done_) pass_start_ = now;
    if (pass != pass_) pass_ = pass;
    done_ = done;
    if (now - start_ < 1s || now - last_ < 100ms) return;
    last_ = now;
    visible_ = true;
    const std::chrono::duration<double> seconds = now - pass_start_;
    write_line("\r\x1b[K" + progress_line(pass, done, seconds.count(), core_bytes_));
}

void Progress::clear() {
    if (visible_) write_line("\r\x1b[K");
    visible_ = false;
}

}  // namespace heapsift
