#pragma once

// Stops a run of the emulator that takes too long. (How: watch.cpp.)

#include "parsers/emulation/unicorn.h"

#ifdef HEAPSIFT_UNICORN

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

namespace heapsift {

/// Stops a run that takes too much of its thread's CPU time. Has a thread.
class Watch {
public:
    Watch() : looking_([this] { look(); }) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

    /// From now on this thread has so much time.
    void begin(uc_engine* engine, double seconds);
    bool is_over();
    /// Returns whether it was stopped.
    bool end();

private:
    void look();

    std::mutex lock_;
    std::condition_variable changed_;
    uc_engine* engine_ = nullptr;
    clockid_t clock_ = CLOCK_PROCESS_CPUTIME_ID;
    double until_ = 0;
    bool stopped_ = false, over_ = false, idle_ = false;
    std::thread looking_;
};

}  // namespace heapsift

#endif
