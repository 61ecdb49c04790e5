#pragma once

// The cost of something: this process's CPU time, in user mode and in the kernel (page faults). Other
// programs on the machine change it little; wall time would include them.

#include <ctime>

namespace heapsift {

/// CPU seconds that this process has used, user and system, in all threads.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace heapsift
