// PTRACE_SEIZE attaches without stopping, and PTRACE_INTERRUPT stops without a signal: the process cannot see either. All
// threads are seized first, while they run; the clock starts with the first interrupt. A thread that was made meanwhile
// shows up in /proc/PID/task, and the listing is repeated until it has nothing new: threads that stand make no threads.
//
// A signal that was on its way when the interrupt came is reported first. It is passed on, and the thread then stands
// before the first instruction of its handler: nothing is lost, and every thread stands in the same kind of stop, the
// one from which it goes on as if nothing had been (a system call that was interrupted is restarted by the kernel). A
// process that was stopped by SIGSTOP stays so: the kernel remembers it.
//
// Source: ptrace(2); Linux's kernel/ptrace.c (ptrace_attach, __ptrace_unlink), kernel/signal.c (do_jobctl_trap).

#include "parsers/capture/stopped_process.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <thread>

namespace heapsift {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{3};

Error ended(pid_t pid) {
    return cannot_analyse("process-ended", fmt::format("{}: the process has ended", pid));
}

pid_t tracer_of(const ProcessFiles& process) {
    const std::string status = process.read("status").value_or("");
    const std::string_view tracer = status_field(status, "TracerPid");
    pid_t pid = 0;
    std::from_chars(tracer.data(), tracer.data() + tracer.size(), pid);
    return pid;
}

Error not_seized(const ProcessFiles& process, int reason) {
    if (const pid_t tracer = tracer_of(process); tracer > 0)
        return cannot_analyse(
            "traced",
            fmt::format("{}: process {} traces it already, and only one can", process.pid(), tracer),
            "a debugger, strace or another capture: wait for its end");
    return cannot_analyse(
        "not-permitted",
        fmt::format("{}: not permitted to stop it: {}", process.pid(), system_reason(reason)),
        "as root, or as its user where ptrace is allowed");
}

bool is_over(const ProcessFiles& process, pid_t tid) {
    const auto stat = read_stat(process.read(fmt::format("task/{}/stat", tid)).value_or(""));
    return !stat || stat->state == 'Z' || stat->state == 'X';
}

}  // namespace

void require_capturable(const ProcessFiles& process) {
    const auto stat = read_stat(process.read("stat").value_or(""));
    if (!stat) throw ended(process.pid());
    const std::size_t threads = process.threads().size();
    if (stat->state == 'X' || threads == 0) throw ended(process.pid());
    const std::string status = process.read("status").value_or("");
    if (stat->state == 'Z' && threads <= 1)
        throw cannot_analyse(
            "zombie",
            fmt::format("{}: the process has ended (a zombie: its parent, process {}, has not asked "
                        "how it ended)",
                        process.pid(), stat->field(4)));
    if (stat->state != 'Z' && status_field(status, "VmSize").empty())
        throw cannot_analyse(
            "kernel-thread",
            fmt::format("{}: a thread of the kernel, without memory of its own", process.pid()));
    if (process.pid() == ::getpid())
        throw cannot_analyse("itself", fmt::format("{}: this is heapsift itself", process.pid()));
    if (tracer_of(process) > 0) throw not_seized(process, EPERM);
}

bool wait_for_stop(pid_t tid) {
    const auto deadline = Clock::now() + patience;
    auto pause = std::chrono::microseconds(20);
    for (;;) {
        int status = 0;
        const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || (got == tid && !WIFSTOPPED(status))) return false;
        if (got == tid) {
            if (status >> 16 == PTRACE_EVENT_STOP) return true;
            // A signal on its way, or another event: on with it.
            const int signal = status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
            ::ptrace(PTRACE_CONT, tid, nullptr, signal);
            continue;
        }
        if (Clock::now() > deadline)
            throw cannot_analyse("does-not-stop",
                                 fmt::format("thread {} does not stop: it waits in the kernel", tid),
                                 "for a disk, for a child, or until its control group is thawed: try again "
                                 "later");
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(1000));
    }
}

ThreadState thread_state(pid_t tid) {
    ThreadState state;
    state.tid = tid;
    iovec part{state.registers.data(), sizeof state.registers};
    if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) != 0) {
        state.tid = 0;
        return state;
    }
    if (part.iov_len != sizeof state.registers)
        throw cannot_analyse("not-x86-64", fmt::format("{}: a 32-bit process; heapsift reads x86-64", tid));
    ::ptrace(PTRACE_GETSIGMASK, tid, sizeof state.blocked_signals, &state.blocked_signals);
    const auto take = [&](unsigned long note, std::size_t most) {
        std::vector<std::byte> bytes(most);
        iovec room{bytes.data(), bytes.size()};
        bytes.resize(::ptrace(PTRACE_GETREGSET, tid, note, &room) == 0 ? room.iov_len : 0);
        return bytes;
    };
    state.floating_point = take(NT_PRFPREG, 512);
    state.extended = take(NT_X86_XSTATE, 1 << 14);
    return state;
}

StoppedProcess::Seized StoppedProcess::seize(pid_t tid) {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) == 0) {
        ended_.add(tid);
        return Seized::yes;
    }
    const int reason = errno;
    // A thread that was seized and called exec has the process's number now.
    if (reason == EPERM && tid == process_.pid() && tracer_of(process_) == ::getpid()) return Seized::yes;
    if (reason == ESRCH || is_over(process_, tid)) return Seized::gone;
    throw not_seized(process_, reason);
}

StoppedProcess::StoppedProcess(const ProcessFiles& process) : process_(process) {
    std::vector<pid_t> seized;
    const auto seize_new = [&] {
        std::vector<pid_t> added;
        for (const pid_t tid : process.threads())
            if (std::find(seized.begin(), seized.end(), tid) == seized.end() && seize(tid) == Seized::yes)
                added.push_back(tid);
        seized.insert(seized.end(), added.begin(), added.end());
        return added;
    };
    try {
        std::vector<pid_t> added = seize_new();
        began_ = Clock::now();
        standing_ = true;
        while (!added.empty()) {
            for (const pid_t tid : added) ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
            for (const pid_t tid : added) {
                threads_.push_back(tid);
                if (wait_for_stop(tid)) continue;
                // It has ended; or another thread has its number now, by an exec, and has to be stopped too.
                threads_.pop_back();
                seized.erase(std::find(seized.begin(), seized.end(), tid));
            }
            added = seize_new();
        }
        if (threads_.empty()) throw ended(process.pid());
    } catch (...) {
        // Those that do not stand yet go on when this process ends, or when they are let go here.
        for (const pid_t tid : seized) {
            if (std::find(threads_.begin(), threads_.end(), tid) != threads_.end()) continue;
            int status = 0;
            ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
            for (int i = 0; i < 100 && ::waitpid(tid, &status, __WALL | WNOHANG) == 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
        }
        let_go();
        throw;
    }
    std::sort(threads_.begin(), threads_.end(), [&](pid_t a, pid_t b) {
        return std::pair(a != process.pid(), a) < std::pair(b != process.pid(), b);
    });
}

StoppedProcess::~StoppedProcess() {
    if (standing_) let_go();
}

std::chrono::nanoseconds StoppedProcess::let_go() {
    for (const pid_t tid : threads_) ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
    standing_ = false;
    return Clock::now() - began_;
}

std::chrono::nanoseconds StoppedProcess::stood() const { return Clock::now() - began_; }

std::vector<ThreadState> StoppedProcess::registers() const {
    std::vector<ThreadState> states;
    for (const pid_t tid : threads_)
        if (ThreadState state = thread_state(tid); state.tid != 0) states.push_back(std::move(state));
    return states;
}

}  // namespace heapsift
