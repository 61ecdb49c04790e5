#include "parsers/emulation/watch.h"

// Emulated code may have no end. Unicorn can limit a run's time, but by the clock on the wall, and with a thread that
// wakes up all the time. Here a thread looks at the CPU time of the one that emulates, fifty times a second,
// as long as runs follow each other; then it sleeps.

#ifdef HEAPSIFT_UNICORN

#include <pthread.h>
#include <chrono>
#include <utility>

namespace heapsift {
namespace {

double cpu_seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Watch::~Watch() {
    {
        const std::lock_guard guard(lock_);
        over_ = true;
    }
    changed_.notify_one();
    looking_.join();
}

void Watch::begin(uc_engine* engine, double seconds) {
    clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
    ::pthread_getcpuclockid(::pthread_self(), &clock);
    const std::lock_guard guard(lock_);
    engine_ = engine;
    clock_ = clock;
    until_ = cpu_seconds(clock) + seconds;
    stopped_ = false;
    if (std::exchange(idle_, false)) changed_.notify_one();
}

bool Watch::is_over() {
    const std::lock_guard guard(lock_);
    return stopped_;
}

bool Watch::end() {
    const std::lock_guard guard(lock_);
    engine_ = nullptr;
    return stopped_;
}

/// Runs mostly follow each other at once: so it goes on looking for a while, and no run has to wake it.
void Watch::look() {
    constexpr int enough_looks = 5;
    std::unique_lock guard(lock_);
    for (int looks = 0; !over_; ++looks) {
        idle_ = looks > enough_looks && !engine_;
        if (idle_)
            changed_.wait(guard);
        else
            changed_.wait_for(guard, std::chrono::milliseconds(20));
        if (!engine_) continue;
        looks = 0;
        if (over_ || cpu_seconds(clock_) < until_) continue;
        stopped_ = true;
        unicorn()->emu_stop(engine_);
    }
}

}  // namespace heapsift

#endif
