#pragma once

// A line on standard error while work takes long.

#include "cli/terminal.h"
#include "parsers/base/progress.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapsift {

/// "references, 43 %, 310.2 MiB of the core a second, some 4 s left": the share is of this pass, from 0 to 1, and so
/// are the rate and what is left. `seconds`: how long the pass has run. `core_bytes`: what it works through; without
/// them no rate. Without a share that can be believed, the name and the seconds.
std::string progress_line(std::string_view pass, double done, double seconds, std::uint64_t core_bytes = 0);

/// Shows that line after the first second, at most ten times a second, and removes it at the end. "auto"
/// shows it only if standard error is a terminal.
class Progress {
public:
    explicit Progress(When when);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// For the parsers; empty if nothing is to be shown. It refers to this object.
    ProgressCallback callback();
    /// The passes from now on work through so many bytes; 0: they do not.
    void set_core_bytes(std::uint64_t bytes) { core_bytes_ = bytes; }
    /// Removes the line, before something else is written.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    void show(std::string_view pass, double done);

    bool wanted_;
    bool visible_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_{};
    std::string pass_;  // and when it began
    double done_ = 0;
    std::uint64_t core_bytes_ = 0;
    Clock::time_point pass_start_{};
};

}  // namespace heapsift
