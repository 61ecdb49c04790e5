#pragma once

// A living process with all its threads stopped, for as short a time as can be.

#include "parsers/capture/ended_threads.h"
#include "parsers/capture/process_files.h"
#include "parsers/capture/thread_state.h"

#include <chrono>
#include <vector>

namespace heapsift {

/// Refuses, before anything is done, what cannot be captured. Throws `Error` (exit 1): "zombie", "kernel-thread",
/// "traced" (and by whom), "not-permitted", "process-ended".
void require_capturable(const ProcessFiles& process);

class StoppedProcess {
public:
    /// Stops every thread, those too that are made meanwhile. Throws `Error` (exit 1), and the process goes on:
    /// "traced", "not-permitted", "process-ended", "does-not-stop" (a thread waits in the kernel, for a disk or a
    /// child of vfork).
    explicit StoppedProcess(const ProcessFiles& process);
    /// The process goes on as it was: a thread that stood by SIGSTOP still stands. If this process is killed instead, the
    /// kernel does the same.
    ~StoppedProcess();
    StoppedProcess(const StoppedProcess&) = delete;
    StoppedProcess& operator=(const StoppedProcess&) = delete;

    /// May be called once before the end; returns how long the process stood.
    std::chrono::nanoseconds let_go();
    /// How long it has stood.
    std::chrono::nanoseconds stood() const;

    /// The threads that stand, the first one first. Those whose thread has ended are not among them.
    const std::vector<pid_t>& threads() const { return threads_; }
    /// Their registers, in that order. Throws `Error` (exit 1): "not-x86-64" (a 32-bit process).
    std::vector<ThreadState> registers() const;

private:
    enum class Seized { yes, no, gone };
    Seized seize(pid_t tid);
    bool stop(pid_t tid);

    const ProcessFiles& process_;
    EndedThreads ended_;
    std::vector<pid_t> threads_;
    std::chrono::steady_clock::time_point began_{};
    bool standing_ = false;
};

/// Waits until the seized and interrupted thread stands in the stop that PTRACE_INTERRUPT makes; signals that arrive
/// before are passed on. False if the thread ended. Throws "does-not-stop" after three seconds.
bool wait_for_stop(pid_t tid);

/// The registers of a thread that stands. Throws "not-x86-64"; nothing of a thread that has gone.
ThreadState thread_state(pid_t tid);

}  // namespace heapsift
