#pragma once

// What a core says of a thread.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

struct ThreadState {
    pid_t tid = 0;                              // as we see it
    std::array<std::uint64_t, 27> registers{};  // struct user_regs_struct of x86-64
    std::uint64_t blocked_signals = 0;
    std::vector<std::byte> floating_point;  // struct user_fpregs_struct
    std::vector<std::byte> extended;        // XSAVE area; empty if the processor has none
};

}  // namespace heapsift
