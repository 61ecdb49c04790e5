// One core must not spoil the answers about others: not by a crash of heapsift, not by an endless loop, not
// by using up the memory of the machine. Only a process contains all three. A child is a fork: that needs no
// path to the program, starts in a millisecond, and shares memory with the parent until one of them writes to
// it. A child raises its own oom_score_adj (which needs no privilege), so that the kernel kills it first when
// memory runs out; it leaves no core dump of its own; and it dies with its parent (PR_SET_PDEATHSIG), so that
// a killed parent leaves no orphans.
//
// The parent sleeps in poll(2) on the children's output and on its own standard output: poll reports at once
// that the reader of a pipe is gone, not only when the next line is due.

#include "cli/child_processes.h"

#include "cli/console.h"
#include "parsers/base/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 64 << 20;  // bytes, more than any document; the rest is read and dropped
constexpr std::chrono::milliseconds tick_time{500};
constexpr std::size_t most_errors = 64 << 10;

struct Child {
    std::size_t job = 0;
    pid_t pid = 0;
    Descriptor output, errors;
    Clock::time_point started = Clock::now(), deadline = Clock::time_point::max();
    ChildEnd end;
};

void write_oom_score() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const auto written = ::write(file, "800", 3);
    ::close(file);
}

[[noreturn]] void be_child(pid_t parent, const Descriptor& output, const Descriptor& errors,
                           std::size_t most_memory, const std::function<int()>& job) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before prctl
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (most_memory > 0) {
        const rlimit memory{most_memory, most_memory};
        ::setrlimit(RLIMIT_DATA, &memory);
    }
    write_oom_score();
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::dup2(output.number(), STDOUT_FILENO);
    ::dup2(errors.number(), STDERR_FILENO);
    ::_exit(job());
}

/// False at the end of the stream.
bool read_some(Descriptor& from, std::string& to, std::size_t most) {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = ::read(from.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) {
        from.close();
        return false;
    }
    to.append(buffer.data(), std::min(static_cast<std::size_t>(got), most - std::min(most, to.size())));
    return true;
}

class Children {
public:
    Children(std::size_t count, const ChildRules& rules, const std::function<int(std::size_t)>& job,
             const std::function<void(std::size_t, const ChildEnd&)>& done)
        : rules_(rules), job_(job), done_(done), ends_(count), passed_over_(count) {}
    ~Children() {
        for (const auto& child : running_) ::kill(child->pid, SIGKILL);
        for (const auto& child : running_) ::waitpid(child->pid, nullptr, 0);
    }

    void run() {
        while (told_ < ends_.size()) {
            while (next_ < ends_.size() && running_.size() < std::max<std::size_t>(rules_.at_once, 1) &&
                   next()) {
            }
            if (!running_.empty()) wait();
            tell();
        }
    }

private:
    /// Starts the next job, or passes it over. False if no more children can be started now, which is tried again when
    /// others have ended; and after one that was passed over: those that run are looked at in between.
    bool next() {
        passed_ = false;
        if (rules_.wanted && asked_ == next_) {
            ++asked_;
            if (!rules_.wanted(next_)) {
                passed_ = true;
                ends_[next_].emplace();
                passed_over_[next_++] = true;
                if (rules_.tick) rules_.tick();
                return false;
            }
        }
        return start();
    }

    bool start() {
        auto child = std::make_unique<Child>();
        child->job = next_;
        int output[2] = {-1, -1}, errors[2] = {-1, -1};
        const bool piped = ::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(errors, O_CLOEXEC) == 0;
        child->output = Descriptor(output[0]);
        child->errors = Descriptor(errors[0]);
        const Descriptor to_output(output[1]), to_errors(errors[1]);
        const pid_t parent = ::getpid();
        child->pid = piped ? ::fork() : -1;
        if (child->pid == 0)
            be_child(parent, to_output, to_errors, rules_.most_memory, [&] { return job_(next_); });
        if (child->pid < 0) {
            if (!running_.empty()) return false;
            ends_[next_].emplace().not_started = errno;
        } else {
            if (rules_.timeout.count() > 0) child->deadline = Clock::now() + rules_.timeout;
            running_.push_back(std::move(child));
        }
        ++next_;
        return true;
    }

    int milliseconds_to_wait() const {
        if (passed_) return 0;
        Clock::time_point first = Clock::time_point::max();
        if (rules_.tick) first = Clock::now() + tick_time;
        for (const auto& child : running_) first = std::min(first, child->deadline);
        if (first == Clock::time_point::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    }

    void wait() {
        std::vector<pollfd> polled = {{STDOUT_FILENO, 0, 0}};
        for (const auto& child : running_) {
            polled.push_back({child->output.number(), POLLIN, 0});  // poll skips what is closed, -1
            polled.push_back({child->errors.number(), POLLIN, 0});
        }
        if (rules_.tick) rules_.tick();
        if (::poll(polled.data(), polled.size(), milliseconds_to_wait()) < 0) return;
        if (polled[0].revents & (POLLERR | POLLHUP)) throw OutputClosed{};
        for (std::size_t i = 0; i < running_.size(); ++i) {
            Child& child = *running_[i];
            if (polled[2 * i + 1].revents != 0) read_some(child.output, child.end.output, most_output);
            if (polled[2 * i + 2].revents != 0) read_some(child.errors, child.end.errors, most_errors);
        }
        end_what_is_over();
    }

    void end_what_is_over() {
        for (const auto& child : running_) {
            if (child->deadline > Clock::now()) continue;
            child->end.timed_out = true;
            child->deadline = Clock::time_point::max();
            ::kill(child->pid, SIGKILL);
        }
        std::erase_if(running_, [&](const auto& child) {
            if (child->output.is_open() || child->errors.is_open()) return false;
            int status = 0;
            while (::waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
            }
            if (WIFEXITED(status)) child->end.exit = WEXITSTATUS(status);
            if (WIFSIGNALED(status)) child->end.signal = WTERMSIG(status);
            child->end.seconds = std::chrono::duration<double>(Clock::now() - child->started).count();
            ends_[child->job] = std::move(child->end);
            return true;
        });
    }

    void tell() {
        for (; told_ < ends_.size() && ends_[told_]; ++told_) {
            if (!passed_over_[told_]) done_(told_, *ends_[told_]);
            ends_[told_] = ChildEnd();  // frees what it wrote
        }
    }

    const ChildRules& rules_;
    const std::function<int(std::size_t)>& job_;
    const std::function<void(std::size_t, const ChildEnd&)>& done_;
    std::vector<std::optional<ChildEnd>> ends_;
    std::vector<std::unique_ptr<Child>> running_;
    std::vector<bool> passed_over_;
    std::size_t next_ = 0, told_ = 0;
    std::size_t asked_ = 0;  // whether these are wanted
    bool passed_ = false;    // the last one was not
};

}  // namespace

void run_in_children(std::size_t count, const ChildRules& rules, const std::function<int(std::size_t)>& job,
                     const std::function<void(std::size_t, const ChildEnd&)>& done) {
    Children(count, rules, job, done).run();
}

}  // namespace heapsift
