#pragma once

// On a machine at work whoever waits for a stopped process waits for the processors too.

#include <sys/types.h>

namespace heapsift {

/// While it lives a thread goes before all usual ones, if that is allowed (CAP_SYS_NICE); then it is as it was.
class BeforeOthers {
public:
    /// The calling thread, and those that it starts meanwhile.
    BeforeOthers();
    /// A thread of another process; those that it makes meanwhile go at the usual pace.
    explicit BeforeOthers(pid_t thread);
    ~BeforeOthers();
    BeforeOthers(const BeforeOthers&) = delete;
    BeforeOthers& operator=(const BeforeOthers&) = delete;

private:
    void raise(int flags);

    pid_t thread_;
    int usual_policy_ = -1;  // -1: was not raised
    int usual_nice_ = 0;
    bool is_nicer_ = false;
};

}  // namespace heapsift
