#pragma once

// A line on standard error while work takes long.

#include "cli/terminal.h"
#include "parsers/base/progress.h"

#include <chrono>

namespace heapsift {

/// Shows the pass and its percentage after the first second, at most ten times a second, and removes the line
/// at the end. "auto" shows it only if standard error is a terminal.
class Progress {
public:
    explicit Progress(When when);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// For the parsers; empty if nothing is to be shown. It refers to this object.
    ProgressCallback callback();
    /// Removes the line, before something else is written.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    void show(std::string_view pass, double done);

    bool wanted_;
    bool visible_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_{};
};

}  // namespace heapsift
