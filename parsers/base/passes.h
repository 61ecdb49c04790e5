#pragma once

// A clock of named passes: what a run spends its time and memory on.
//
// Whoever begins a piece of work tells its name to the ProgressCallback it was given. The clock books
// everything to that name until the next one comes. Passes do not nest, so nothing is booked twice or lost:
// the rows add up to the whole run. A pass that is entered again continues its row.

#include "parsers/base/progress.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct Pass {
    std::string name;
    double seconds = 0;            // by the wall
    double cpu_seconds = 0;        // of all threads
    std::uint64_t peak_bytes = 0;  // by how much the peak of the process's memory rose
};

/// What the process has spent so far, according to the system.
struct Spent {
    double seconds = 0, cpu_seconds = 0;  // seconds: since an arbitrary point
    std::uint64_t peak_bytes = 0;

    /// From CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID and getrusage's ru_maxrss.
    static Spent now();
};

class PassClock {
public:
    /// What the process spent before belongs to the first pass, "start"; its wall time is not known and
    /// counts as 0. `spent` replaces the source of time in tests.
    explicit PassClock(std::function<Spent()> spent = Spent::now);

    /// Ends the running pass. Entering the same pass again continues it, and is cheap.
    void enter(std::string_view name);
    /// The passes so far, in the order in which they were first entered.
    std::vector<Pass> passes();

private:
    void book();

    std::function<Spent()> spent_;
    Spent last_;
    std::vector<Pass> passes_;
    std::size_t current_ = 0;
};

}  // namespace heapsift
