#pragma once

// What a run spends on what: a clock of named passes.
//
// Whoever begins a piece of work says its name to the ProgressCallback that he was handed, and the clock
// books all that is spent from then on to that name, until the next one is said. Passes do not nest, so
// nothing is booked twice or not at all: the rows add up to the whole run. A pass that is entered again goes
// on in its row.

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

/// What the system says that was spent up to now.
struct Spent {
    double seconds = 0, cpu_seconds = 0;  // seconds: from any point in time
    std::uint64_t peak_bytes = 0;

    /// By CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID and getrusage's ru_maxrss.
    static Spent now();
};

class PassClock {
public:
    /// What the process had spent before belongs to the first pass, "start"; of the wall clock that is
    /// nothing. `spent` is another source of time, for tests.
    explicit PassClock(std::function<Spent()> spent = Spent::now);

    /// Ends the pass that runs. A name that is the same goes on; cheap then.
    void enter(std::string_view name);
    /// In the order in which they were entered first, up to now.
    std::vector<Pass> passes();

private:
    void book();

    std::function<Spent()> spent_;
    Spent last_;
    std::vector<Pass> passes_;
    std::size_t current_ = 0;
};

}  // namespace heapsift
