#pragma once

// What a thing costs: the processor time of this process, in user mode and in the kernel (page faults), which
// other programs on the machine change little; the clock on the wall counts them too.

#include <ctime>

namespace heapsift {

/// Seconds of CPU that this process has used, user and system, all threads.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace heapsift
