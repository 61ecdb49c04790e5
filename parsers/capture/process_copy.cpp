// A fork copies a process's page tables, which takes a hundredth of the time that its memory takes; afterwards the kernel
// copies each page that one of the two writes to. So with all threads stopped one thread makes one system call, clone,
// with these flags: none that shares memory; no signal at its end, so that the parent is told nothing and waitpid(-1)
// does not find it; CLONE_FILES, so that the copy holds no file, socket or lock of its own open. The child is traced from
// its birth and never runs an instruction: it is read where it stands, and killed.
//
// Whoever does this must not be killed halfway, with the process's registers changed. So a helper does it, a process of
// its own in its own session, which blocks all signals; if heapsift is killed, the helper sees the end of the line
// between them, ends the copy (PTRACE_O_EXITKILL would do so too if the helper itself were killed), and goes.
//
// A killed child stays a zombie until its parent asks for it, and this parent does not know of it. So the helper has a
// thread of the process ask (wait4 with __WALL): one thread stands for some microseconds more. (If it does so on another
// processor than before, the kernel writes that one's number into the thread's rseq area, as whenever a thread moves. Of a
// process that SIGSTOP stopped this word is all that differs afterwards from the core.)
//
// One thing is not as if nothing had been: if the process calls exec while its copy is read, the kernel sends it SIGCHLD at
// the copy's end (do_notify_parent: the child is one of another program). Who does not handle it does not notice.
//
// A seccomp filter may forbid clone, and may kill the process for trying. The filter can be put off for the while by
// whoever has CAP_SYS_ADMIN (PTRACE_O_SUSPEND_SECCOMP); else no copy is made.
//
// Source: clone(2), ptrace(2), wait(2); Linux's kernel/exit.c (wait_task_zombie, eligible_child).

#include "parsers/capture/process_copy.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/capture/before_others.h"
#include "parsers/capture/ended_threads.h"
#include "parsers/capture/made_calls.h"
#include "parsers/capture/stopped_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace heapsift {
namespace {

// What the helper says: records of a length and so many bytes.
constexpr std::uint64_t longest_record = 1 << 20;

bool send_all(int line, const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t sent = ::send(line, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool send_record(int line, std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    return send_all(line, &size, sizeof size) && send_all(line, bytes.data(), bytes.size());
}

bool receive_all(int line, void* data, std::size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t got = ::recv(line, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

std::optional<std::string> receive_record(int line) {
    std::uint64_t size = 0;
    if (!receive_all(line, &size, sizeof size) || size > longest_record) return std::nullopt;
    std::string bytes(size, '\0');
    if (!receive_all(line, bytes.data(), size)) return std::nullopt;
    return bytes;
}

template <class T>
std::string_view raw(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct CopyMade {
    pid_t copy = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t threads = 0;
};

/// A thread whose registers can be changed most safely: one that waits in a system call, not one that may stand between
/// two instructions of a restartable sequence.
pid_t best_thread(const std::vector<ThreadState>& threads) {
    constexpr std::size_t orig_rax = 15;
    for (const ThreadState& thread : threads)
        if (static_cast<std::int64_t>(thread.registers[orig_rax]) >= 0) return thread.tid;
    return threads.front().tid;
}

bool has_seccomp(const ProcessFiles& process, pid_t tid) {
    const std::string status = process.read(fmt::format("task/{}/status", tid)).value_or("");
    const std::string_view mode = status_field(status, "Seccomp");
    return !mode.empty() && mode != "0";
}

class Helper {
public:
    Helper(const ProcessFiles& process, int line) : process_(process), line_(line) {}

    int run() {
        try {
            make_copy();
        } catch (const NoCopy& no) {
            send_record(line_, "no copy");
            send_record(line_, no.reason);
        } catch (const Error& error) {
            send_record(line_, "error");
            for (const std::string& part : {error.code(), error.message(), error.hint()})
                send_record(line_, part);
        }
        char end = 0;
        receive_all(line_, &end, 1);  // until the other side is done, or gone
        end_copy();
        return 0;
    }

private:
    void make_copy() {
        const auto instruction = find_system_call(process_);
        if (!instruction) throw NoCopy{"its code has no instruction for a system call"};
        instruction_ = *instruction;
        if (!is_wanted()) return;
        std::vector<ThreadState> threads;
        CopyMade made;
        {
            const BeforeOthers before_others;
            StoppedProcess stopped(process_);
            threads = stopped.registers();
            if (!is_wanted()) return;
            if (threads.empty()) throw cannot_analyse("process-ended", "the process has ended");
            clone(best_thread(threads));
            made.nanoseconds = stopped.let_go().count();
        }
        made.copy = copy_;
        made.threads = threads.size();
        send_record(line_, "copy");
        send_record(line_, raw(made));
        for (const ThreadState& thread : threads) {
            send_record(line_, raw(thread.tid));
            send_record(line_, raw(thread.registers));
            send_record(line_, raw(thread.blocked_signals));
            for (const auto* bytes : {&thread.floating_point, &thread.extended})
                send_record(line_, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
        }
    }

    /// False once the other side is gone.
    bool is_wanted() const {
        char byte = 0;
        return ::recv(line_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
    }

    void clone(pid_t tid) {
        const bool filtered = has_seccomp(process_, tid);
        const BeforeOthers before_others(tid);  // the copying is done by this thread, not by us
        MadeCalls calls(tid, instruction_);
        if (filtered && !calls.put_off_seccomp())
            throw NoCopy{"it has a seccomp filter, which root alone can put off"};
        const auto result = calls.call(SYS_clone, {CLONE_FILES, 0, 0, 0, 0}, &copy_);
        if (calls.does_not_run()) throw NoCopy{"its control group is frozen, and it makes no system call"};
        if (!result) throw cannot_analyse("process-ended", "the process has ended");
        if (*result < 0)
            throw NoCopy{"the kernel refuses to copy it: " + system_reason(static_cast<int>(-*result))};
        own_number_ = *result;
        int status = 0;
        while (::waitpid(copy_, &status, __WALL) < 0 && errno == EINTR) {
        }
        ::ptrace(PTRACE_SETOPTIONS, copy_, nullptr, PTRACE_O_EXITKILL);
        // Should memory run out, it is the copy that goes.
        const Descriptor score(
            ::open(fmt::format("/proc/{}/oom_score_adj", copy_).c_str(), O_WRONLY | O_CLOEXEC));
        if (score.is_open()) [[maybe_unused]]
            const auto written = ::write(score.number(), "1000", 4);
    }

    void end_copy() {
        if (copy_ <= 0) return;
        ::kill(copy_, SIGKILL);
        int status = 0;
        for (;;) {
            const pid_t got = ::waitpid(copy_, &status, __WALL);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status)) break;
            ::ptrace(PTRACE_CONT, copy_, nullptr, nullptr);
        }
        constexpr int tries = 50;
        for (int i = 0; i < tries && !ask_for_copy(); ++i) ::usleep(10000);
    }

    /// Has the process take notice of the copy's end. True if nothing is left to be done.
    bool ask_for_copy() {
        const auto stat = read_stat(process_.read("stat").value_or(""));
        if (!stat) return true;  // then init takes notice
        EndedThreads ended;
        for (const pid_t tid : process_.threads()) {
            if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) continue;
            ended.add(tid);
            ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
            bool done = false;
            try {
                if (!wait_for_stop(tid)) continue;
                const bool filtered = has_seccomp(process_, tid);
                // It may run another program by now.
                MadeCalls calls(tid, find_system_call(process_).value_or(instruction_));
                if (!filtered || calls.put_off_seccomp())
                    done = calls
                               .call(SYS_wait4,
                                     {static_cast<std::uint64_t>(own_number_), 0, __WALL | WNOHANG, 0, 0})
                               .has_value();
                done = done || calls.does_not_run();  // frozen meanwhile: the copy stays a zombie of its
            } catch (const Error&) {                  // it does not stop; another may
            }
            ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
            if (done) return true;
        }
        return false;
    }

    const ProcessFiles& process_;
    int line_;
    Address instruction_;
    pid_t copy_ = 0;
    std::int64_t own_number_ = 0;  // of the copy, in its own namespace
};

[[noreturn]] void be_helper(const ProcessFiles& process, int line) {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    ::setsid();
    ::prctl(PR_SET_NAME, "heapsift-copy");
    // A terminal or pipe of the command must not stay open for it.
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nothing >= 0) ::dup2(nothing, standard);
    ::_exit(Helper(process, line).run());
}

template <class T>
T value_in(const std::optional<std::string>& record) {
    T value{};
    if (!record || record->size() != sizeof value)
        throw cannot_analyse("helper-ended", "the process that makes the copy ended before it was done",
                             "try again, or without --fork");
    std::memcpy(&value, record->data(), sizeof value);
    return value;
}

std::vector<std::byte> bytes_in(const std::optional<std::string>& record) {
    if (!record) value_in<char>(record);
    const auto* data = reinterpret_cast<const std::byte*>(record->data());
    return {data, data + record->size()};
}

}  // namespace

ProcessCopy::ProcessCopy(const ProcessFiles& process) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw NoCopy{"the process that makes it could not be started: " + system_reason(errno)};
    line_ = Descriptor(ends[0]);
    Descriptor other(ends[1]);
    helper_ = ::fork();
    const int failed = errno;
    if (helper_ == 0) {
        line_.close();
        be_helper(process, other.number());
    }
    other.close();
    if (helper_ < 0) throw NoCopy{"the process that makes it could not be started: " + system_reason(failed)};
    try {
        const auto kind = receive_record(line_.number());
        if (kind == "no copy") throw NoCopy{receive_record(line_.number()).value_or("")};
        if (kind == "error") {
            const auto code = receive_record(line_.number()), message = receive_record(line_.number()),
                       hint = receive_record(line_.number());
            throw cannot_analyse(code.value_or("helper-ended"), message.value_or(""), hint.value_or(""));
        }
        const auto made = value_in<CopyMade>(receive_record(line_.number()));
        copy_ = made.copy;
        stood_ = std::chrono::nanoseconds(made.nanoseconds);
        for (std::uint64_t i = 0; i < made.threads; ++i) {
            ThreadState thread;
            thread.tid = value_in<pid_t>(receive_record(line_.number()));
            thread.registers = value_in<std::array<std::uint64_t, 27>>(receive_record(line_.number()));
            thread.blocked_signals = value_in<std::uint64_t>(receive_record(line_.number()));
            thread.floating_point = bytes_in(receive_record(line_.number()));
            thread.extended = bytes_in(receive_record(line_.number()));
            threads_.push_back(std::move(thread));
        }
    } catch (...) {
        line_.close();
        ::waitpid(helper_, nullptr, 0);
        throw;
    }
}

ProcessCopy::~ProcessCopy() {
    line_.close();
    while (::waitpid(helper_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace heapsift
