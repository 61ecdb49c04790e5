#pragma once

// Jobs in processes of their own, several at once.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace heapsift {

/// How a child ended, and what it wrote.
struct ChildEnd {
    std::string output, errors;  // standard output and standard error
    int exit = 0;                // its exit code, if it ended by itself
    int signal = 0;              // else the signal that killed it
    bool timed_out = false;      // this side killed it at its time limit
    int not_started = 0;         // an errno if no child could be made, else 0
    double seconds = 0;          // by the wall, from its start to its end
};

struct ChildRules {
    std::size_t at_once = 1;
    std::chrono::seconds timeout{0};       // for each job; 0: none
    std::function<void()> tick = nullptr;  // called now and then while children work; may be empty
    // Asked before each job is started, in order: whether to run it. May be empty: all are.
    std::function<bool(std::size_t)> wanted = nullptr;
    std::size_t most_memory = 0;  // bytes of its own that a child may have (RLIMIT_DATA); 0: no limit
};

/// Runs the jobs 0 … count-1, each in a fork of this process. Their standard output and error are captured;
/// the value that `job` returns is the exit code. `done` is called once for each job that ran, in order, as soon as
/// its turn has come. Throws OutputClosed as soon as nobody reads standard output any more, and whatever
/// `done` or `wanted` throws; then, and when this process dies, the children are killed. Call it only while there is a
/// single thread.
void run_in_children(std::size_t count, const ChildRules& rules, const std::function<int(std::size_t)>& job,
                     const std::function<void(std::size_t, const ChildEnd&)>& done);

}  // namespace heapsift
