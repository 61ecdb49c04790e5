#include "parsers/capture/ended_threads.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace heapsift {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds first_pause{2}, longest_pause{20}, at_the_end{1000};

/// Asks, if it has ended. False if it has to be asked again: it has not ended, or cannot be told of before others are.
bool has_been_asked(pid_t tid) {
    siginfo_t how{};
    const auto wait = [&](int more) {
        int result = 0;
        do {
            result = ::waitid(P_PID, static_cast<id_t>(tid), &how, WEXITED | WNOHANG | __WALL | more);
        } while (result < 0 && errno == EINTR);
        return result;
    };
    // Of a traced thread waitid tells the stops too, whatever it is asked for. These are the tracing thread's to hear, so they
    // are only looked at. What has ended stays so: between the two calls nothing changes.
    if (wait(WNOWAIT) < 0) return true;  // let go, or asked
    const bool ended = how.si_pid == tid &&
                       (how.si_code == CLD_EXITED || how.si_code == CLD_KILLED || how.si_code == CLD_DUMPED);
    return ended && wait(0) == 0;
}

}  // namespace

EndedThreads::EndedThreads() {
    try {
        asks_ = std::thread([this] {
            std::unique_lock lock(mutex_);
            for (auto pause = first_pause; !over_.wait_for(lock, pause, [this] { return is_over_; });
                 pause = std::min(pause * 2, longest_pause))
                ask_all();
        });
    } catch (const std::system_error&) {  // a limit on processes
    }
}

EndedThreads::~EndedThreads() {
    if (asks_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        over_.notify_one();
        asks_.join();
    }
    const auto deadline = std::chrono::steady_clock::now() + at_the_end;
    for (ask_all(); !traced_.empty() && std::chrono::steady_clock::now() < deadline; ask_all())
        std::this_thread::sleep_for(milliseconds(1));
}

void EndedThreads::add(pid_t tid) {
    const std::lock_guard lock(mutex_);
    traced_.push_back(tid);
}

void EndedThreads::ask_all() { std::erase_if(traced_, has_been_asked); }

}  // namespace heapsift
