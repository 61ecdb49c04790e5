#pragma once

// How long a completion may look around between two keys.

#include <chrono>
#include <ctime>

namespace heapsift {

/// Over once so much processor time was used; or, where others have the processors, twenty times as much has passed.
class Patience {
public:
    explicit Patience(std::chrono::milliseconds most)
        : used_at_end_(used() + most), end_(std::chrono::steady_clock::now() + 20 * most) {}

    bool is_over() const { return used() >= used_at_end_ || std::chrono::steady_clock::now() >= end_; }

private:
    static std::chrono::nanoseconds used() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    std::chrono::nanoseconds used_at_end_;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace heapsift
