#pragma once

// Threads that help with one piece of work after the other. (helper_threads.cpp says how they wait.)

#include <cstddef>
#include <functional>

namespace heapsift {

/// Runs `help` on this thread, and at the same time on up to `most` others that have nothing else to do; returns when
/// all have returned. `help` must do all that is left to do even if nobody else comes (the system may refuse
/// threads), and return when nothing is; it must not throw. May be called from within `help`. The first call
/// starts the threads, some 30 µs each; they wait, without costing anything, until the process ends.
void with_helpers(std::size_t most, const std::function<void()>& help);

}  // namespace heapsift
