// What goes before others goes at its usual pace again.

#include "parsers/capture/before_others.h"

#include "tests/catch.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using namespace heapsift;

namespace {

/// Whether such priorities may be had here.
bool is_allowed() {
    const pid_t child = ::fork();
    if (child == 0) {
        const sched_param lowest{1};
        ::_exit(::sched_setscheduler(0, SCHED_RR, &lowest) == 0 ? 0 : 1);
    }
    int status = 1;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("a thread goes before others, and those that it starts, until it is done") {
    if (!is_allowed() || ::sched_getscheduler(0) != SCHED_OTHER) return;
    const int nice = ::getpriority(PRIO_PROCESS, 0);
    {
        const BeforeOthers before_others;
        CHECK(::sched_getscheduler(0) == SCHED_RR);
        int of_started = -1;
        std::thread([&] { of_started = ::sched_getscheduler(0); }).join();
        CHECK(of_started == SCHED_RR);
    }
    CHECK(::sched_getscheduler(0) == SCHED_OTHER);
    CHECK(::getpriority(PRIO_PROCESS, 0) == nice);
}

TEST_CASE(
    "a thread of another process goes before others, what it makes does not, and then it is as it was") {
    if (!is_allowed()) return;
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    REQUIRE(child > 0);
    const sched_param none{}, second{2};
    for (const int policy :
         {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_BATCH | SCHED_RESET_ON_FORK, SCHED_FIFO}) {
        REQUIRE(::sched_setscheduler(child, policy, policy == SCHED_FIFO ? &second : &none) == 0);
        {
            const BeforeOthers before_others(child);
            CHECK(::sched_getscheduler(child) ==
                  (policy == SCHED_FIFO ? SCHED_FIFO : SCHED_RR | SCHED_RESET_ON_FORK));
        }
        CHECK(::sched_getscheduler(child) == policy);
        sched_param now{};
        CHECK((::sched_getparam(child, &now) == 0 && now.sched_priority == (policy == SCHED_FIFO ? 2 : 0)));
    }
    REQUIRE(::setpriority(PRIO_PROCESS, static_cast<id_t>(child), 7) == 0);
    { const BeforeOthers before_others(child); }
    CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(child)) == 7);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}
