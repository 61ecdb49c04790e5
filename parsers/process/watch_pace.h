#pragma once

// How long a watcher may sleep until it must look again, so that a threshold is not passed by much.

#include <chrono>
#include <cstdint>

namespace heapsift {

/// Feed it what was measured; it says when to measure again. Plain arithmetic: no clock, no sleep.
class WatchPace {
public:
    using Duration = std::chrono::duration<double>;

    /// `threshold`: bytes, of the largest one. A growth of a tenth of it in a second is always expected,
    /// however slow it has been so far.
    explicit WatchPace(std::uint64_t threshold) : threshold_(static_cast<double>(threshold)) {}

    /// `left`: bytes up to the nearest threshold; `elapsed`: since the last call (ignored in the first).
    /// From 5 ms to half a second.
    Duration next(std::uint64_t left, Duration elapsed);
    /// Bytes a second, of the fastest growth lately: over some tenths of a second at least, and forgotten in seconds.
    double speed() const;

private:
    double threshold_;
    double last_left_ = -1;
    double speed_ = 0;                             // by which it is looked
    double lately_ = 0, growth_ = 0, during_ = 0;  // by which it is told; and of the window that is not over
};

}  // namespace heapsift
