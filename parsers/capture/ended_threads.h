#pragma once

// Threads that end while they are traced.
//
// The problem: a thread that ends is gone only when its tracer has asked how it ended. One that calls exec ends all
// others, and waits until they are gone, with the process's cred_guard_mutex held; the tracer may just be in PTRACE_SEIZE
// of another thread, which waits for that mutex, or in waitpid of one that cannot be told of before the others are gone.
// And one that is ending cannot be let go: it stays traced, and must be asked.
//
// The idea: a thread of heapsift that does nothing but ask.
//
// Source: Linux's fs/exec.c (de_thread), kernel/ptrace.c (ptrace_attach), kernel/exit.c (exit_notify, delay_group_leader,
// wait_consider_task).

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace heapsift {

/// Of the threads that are added, those that end are asked how, within some milliseconds, whatever the thread that traces
/// them waits for; that one's own waitpid then finds no such child. Where no thread can be started they are asked at the
/// end alone. Costs some 50 µs, and 0.3 µs a traced thread every 2 to 20 ms.
class EndedThreads {
public:
    EndedThreads();
    /// Those that could not be let go are asked until they are gone, for a second at most.
    ~EndedThreads();
    EndedThreads(const EndedThreads&) = delete;
    EndedThreads& operator=(const EndedThreads&) = delete;

    /// `tid`: a thread that this process traces.
    void add(pid_t tid);

private:
    void ask_all();

    std::mutex mutex_;
    std::condition_variable over_;
    std::vector<pid_t> traced_;
    bool is_over_ = false;
    std::thread asks_;
};

}  // namespace heapsift
