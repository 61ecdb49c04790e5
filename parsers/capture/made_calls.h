#pragma once

// System calls that a stopped thread makes in its process's stead.

#include "parsers/base/address.h"
#include "parsers/capture/process_files.h"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

namespace heapsift {

/// Where in the process's code a `syscall` instruction stands: in the vDSO, else in other code; nothing if there is none.
std::optional<Address> find_system_call(const ProcessFiles& process);

/// A thread that stands (StoppedProcess) and makes calls. Its registers, and the signals that it blocks, are put back at
/// the end: it goes on as if nothing had been, also in a system call that was interrupted.
class MadeCalls {
public:
    MadeCalls(pid_t tid, Address instruction);
    ~MadeCalls();
    MadeCalls(const MadeCalls&) = delete;
    MadeCalls& operator=(const MadeCalls&) = delete;

    /// False if the thread's seccomp filter cannot be put off meanwhile (that takes CAP_SYS_ADMIN).
    bool put_off_seccomp();
    /// The result of the call, -errno if it failed; nothing if the thread ended, does not run, or there is no such instruction
    /// any longer. `made`: the process that clone made, as
    /// we see it; it stands, and is traced.
    std::optional<std::int64_t> call(std::uint64_t number, const std::array<std::uint64_t, 5>& arguments,
                                     pid_t* made = nullptr);

    /// True once a call was not even begun within a second: the thread's control group (version 2) is frozen.
    bool does_not_run() const { return does_not_run_; }

private:
    bool go_to_stop(int& status, bool may_be_frozen);
    bool wait_for_next(int& status, bool may_be_frozen);

    pid_t tid_;
    Address instruction_;
    std::array<std::uint64_t, 27> registers_{};
    std::uint64_t blocked_ = 0;
    bool there_ = false, does_not_run_ = false;
};

}  // namespace heapsift
