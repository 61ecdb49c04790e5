#pragma once

// A line on standard error while the work takes long.

#include "cli/terminal.h"
#include "parsers/base/progress.h"

#include <chrono>

namespace heapsift {

/// Shows the pass and its share after the first second, ten times a second at most, and takes the line away
/// at the end. "auto": only where standard error is a terminal.
class Progress {
public:
    explicit Progress(When when);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// For the parsers; empty where nothing is to be shown. It refers to this object.
    ProgressCallback callback();
    /// Takes the line away, before something else is written.
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
