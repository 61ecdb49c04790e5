// A debugger can make a process call what it likes: its registers are set to a `syscall` instruction that is there
// anyway, the thread is let run up to the end of that instruction, and the registers are put back. No byte of the
// process's memory is written.
//
// What must be right:
//   - The thread may stand in a system call that was interrupted (-ERESTARTSYS and the like in rax, its number in
//     orig_rax). The kernel restarts it on the way back from a stop by signal or by interrupt, and only there. So orig_rax
//     is -1 while calls are made, and before the registers are put back the thread is interrupted once more: from that
//     stop it goes on as it would have from the first.
//   - A signal that arrives meanwhile would run its handler on our registers. All are blocked for the while; one that
//     stops the process (SIGSTOP) cannot be, and is passed over: the process stands anyway, and stays so afterwards.
//   - A thread whose control group is frozen (version 2) can be stopped and read, but runs no instruction until the group is
//     thawed. Then it is stopped again before the call has begun, and no call is made.
//
// Source: ptrace(2); Linux's kernel/signal.c (get_signal, ptrace_stop), arch/x86/kernel/signal.c
// (arch_do_signal_or_restart); what CRIU's compel does.

#include "parsers/capture/made_calls.h"

#include "parsers/capture/memory_map.h"
#include "parsers/capture/stopped_process.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace heapsift {
namespace {

// struct user_regs_struct
enum : std::size_t {
    r10 = 7,
    r9 = 8,
    r8 = 9,
    rax = 10,
    rdx = 12,
    rsi = 13,
    rdi = 14,
    orig_rax = 15,
    rip = 16
};

constexpr int suspend_seccomp = 1 << 21;  // PTRACE_O_SUSPEND_SECCOMP of linux/ptrace.h
constexpr int usual_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;

bool set_registers(pid_t tid, std::array<std::uint64_t, 27>& registers) {
    iovec part{registers.data(), sizeof registers};
    return ::ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part) == 0;
}

bool get_registers(pid_t tid, std::array<std::uint64_t, 27>& registers) {
    iovec part{registers.data(), sizeof registers};
    return ::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) == 0 && part.iov_len == sizeof registers;
}

/// False after an exec, which puts other code there or none.
bool is_system_call(pid_t tid, Address instruction) {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKTEXT, tid, instruction.value, nullptr);
    return errno == 0 && (word & 0xffff) == 0x050f;
}

void block_signals(pid_t tid, std::uint64_t blocked) {
    ::ptrace(PTRACE_SETSIGMASK, tid, sizeof blocked, &blocked);
}

}  // namespace

std::optional<Address> find_system_call(const ProcessFiles& process) {
    const Descriptor memory = process.open("mem", O_RDONLY);
    std::vector<Mapping> mappings = read_mappings(process.read("maps").value_or(""));
    std::stable_partition(mappings.begin(), mappings.end(),
                          [](const Mapping& m) { return m.path == "[vdso]"; });
    for (const Mapping& mapping : mappings) {
        if (!mapping.executable || mapping.path == "[vsyscall]") continue;
        constexpr std::uint64_t most = 4 << 20;  // bytes of one mapping that are looked at
        std::string code(std::min(mapping.range.size(), most), '\0');
        const ssize_t got =
            ::pread(memory.number(), code.data(), code.size(), static_cast<off_t>(mapping.range.start.value));
        if (got <= 0) continue;
        code.resize(static_cast<std::size_t>(got));
        const std::size_t at = code.find("\x0f\x05");
        if (at != std::string::npos) return mapping.range.start + at;
    }
    return std::nullopt;
}

MadeCalls::MadeCalls(pid_t tid, Address instruction) : tid_(tid), instruction_(instruction) {
    there_ = get_registers(tid_, registers_) &&
             ::ptrace(PTRACE_GETSIGMASK, tid_, sizeof blocked_, &blocked_) == 0 &&
             ::ptrace(PTRACE_SETOPTIONS, tid_, nullptr, usual_options) == 0;
    if (there_) block_signals(tid_, ~std::uint64_t{0});
}

MadeCalls::~MadeCalls() {
    if (!there_) return;
    // To the kind of stop in which a system call is restarted.
    ::ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
    int status = 0;
    for (;;) {
        if (::ptrace(PTRACE_CONT, tid_, nullptr, nullptr) != 0) break;
        if (::waitpid(tid_, &status, __WALL) != tid_ || !WIFSTOPPED(status)) return;
        if (status >> 16 == PTRACE_EVENT_STOP) break;
    }
    set_registers(tid_, registers_);
    block_signals(tid_, blocked_);
    ::ptrace(PTRACE_SETOPTIONS, tid_, nullptr, 0);
}

bool MadeCalls::put_off_seccomp() {
    return ::ptrace(PTRACE_SETOPTIONS, tid_, nullptr, usual_options | suspend_seccomp) == 0;
}

/// Waits for the thread's next stop. False if it ended. If it may be frozen it is stopped after a second.
bool MadeCalls::wait_for_next(int& status, bool may_be_frozen) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(1);
    auto pause = std::chrono::microseconds(10);
    while (may_be_frozen) {
        const pid_t got = ::waitpid(tid_, &status, __WALL | WNOHANG);
        if (got == tid_) return WIFSTOPPED(status);
        if (got < 0 && errno != EINTR) return false;
        if (Clock::now() > deadline) {
            ::ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
            break;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(1000));
    }
    pid_t got = 0;
    do {
        got = ::waitpid(tid_, &status, __WALL);
    } while (got < 0 && errno == EINTR);
    if (got != tid_ || !WIFSTOPPED(status)) return false;
    does_not_run_ = may_be_frozen && status >> 16 == PTRACE_EVENT_STOP;
    return true;
}

/// Runs the thread up to its next stop that has to do with the call. False if it ended, or does not run.
bool MadeCalls::go_to_stop(int& status, bool may_be_frozen) {
    for (;;) {
        if (::ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0) return false;
        if (!wait_for_next(status, may_be_frozen) || does_not_run_) return false;
        const bool of_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (of_call || status >> 16 == PTRACE_EVENT_CLONE) return true;
    }
}

std::optional<std::int64_t> MadeCalls::call(std::uint64_t number,
                                            const std::array<std::uint64_t, 5>& arguments, pid_t* made) {
    if (!there_ || !is_system_call(tid_, instruction_)) return std::nullopt;
    std::array<std::uint64_t, 27> registers = registers_;
    registers[rip] = instruction_.value;
    registers[rax] = number;
    registers[orig_rax] = ~std::uint64_t{0};
    registers[rdi] = arguments[0];
    registers[rsi] = arguments[1];
    registers[rdx] = arguments[2];
    registers[r10] = arguments[3];
    registers[r8] = arguments[4];
    registers[r9] = 0;
    if (!set_registers(tid_, registers)) return std::nullopt;
    int status = 0;
    bool entered = false;
    for (;;) {
        if (!go_to_stop(status, !entered)) {
            there_ = does_not_run_;  // then it stands, and its registers can be put back
            return std::nullopt;
        }
        if (status >> 16 == PTRACE_EVENT_CLONE) {
            unsigned long message = 0;
            ::ptrace(PTRACE_GETEVENTMSG, tid_, nullptr, &message);
            if (made) *made = static_cast<pid_t>(message);
        } else if (!std::exchange(entered, true)) {
            continue;
        } else {
            break;
        }
    }
    if (!get_registers(tid_, registers)) return std::nullopt;
    return static_cast<std::int64_t>(registers[rax]);
}

}  // namespace heapsift
