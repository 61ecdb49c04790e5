#pragma once

// A copy of a living process, made by a fork in its stead.

#include "parsers/capture/process_files.h"
#include "parsers/capture/thread_state.h"

#include <chrono>
#include <string>
#include <vector>

namespace heapsift {

/// Why no copy could be made; the process goes on. (seccomp, a limit on processes, the process's or our own, no memory for
/// page tables, a frozen control group.)
struct NoCopy {
    std::string reason;  // for a person: lower case, no period
};

/// A copy of the process's memory that stands still until the end of this object, and has never run. A process of its own
/// makes it, and ends it in every case, also when this one is killed.
class ProcessCopy {
public:
    /// Stops the process for the time of a fork. Throws `Error` (exit 1) as StoppedProcess does, and NoCopy.
    explicit ProcessCopy(const ProcessFiles& process);
    /// Ends the copy, and waits until nothing is left of it.
    ~ProcessCopy();
    ProcessCopy(const ProcessCopy&) = delete;
    ProcessCopy& operator=(const ProcessCopy&) = delete;

    pid_t pid() const { return copy_; }
    /// All threads of the process, as they stood; those of the copy are gone.
    const std::vector<ThreadState>& threads() const { return threads_; }
    std::chrono::nanoseconds stood() const { return stood_; }

private:
    Descriptor line_;  // to the helper
    pid_t helper_ = -1;
    pid_t copy_ = 0;
    std::vector<ThreadState> threads_;
    std::chrono::nanoseconds stood_{0};
};

}  // namespace heapsift
