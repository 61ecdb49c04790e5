#pragma once

// Jobs in processes of their own, several at a time.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace heapsift {

/// How a child ended, and what it wrote.
struct ChildEnd {
    std::string output, errors;  // standard output and standard error
    int exit = 0;                // its exit code, where it ended by itself
    int signal = 0;              // else what killed it
    bool timed_out = false;      // this side killed it, for its time was over
    int not_started = 0;         // an errno: there was never a child
};

struct ChildRules {
    std::size_t at_once = 1;
    std::chrono::seconds timeout{0};       // of each; 0: none
    std::function<void()> tick = nullptr;  // called now and then while the children work; may be empty
};

/// Runs the jobs 0 … count-1, each in a fork of this process whose standard output and error are caught, and
/// whose end is the value that `job` returns. `done` is called once for each, in the order of the jobs, as
/// soon as its turn has come. Throws OutputClosed as soon as nobody reads standard output any more, and what
/// `done` throws; in either case, and when this process dies, the children are killed. To be called while
/// there is only one thread.
void run_in_children(std::size_t count, const ChildRules& rules, const std::function<int(std::size_t)>& job,
                     const std::function<void(std::size_t, const ChildEnd&)>& done);

}  // namespace heapsift
