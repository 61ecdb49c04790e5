// A better nice value is of little use: it counts among the tasks of one group of the scheduler only, and each session is
// such a group (sched_autogroup_enabled), each service of systemd with a share of the processor another. So the thread gets
// the lowest real-time priority, which goes before all of them, and is not held back by a group's quota of processor time.
// (2 processors, 4 programs that compute in sessions of their own, 1 GiB: with the best nice value a process stood 104 ms for
// a fork and 189 for a copy, so 16 and 128; medians of five.)
// The kernel leaves a twentieth of the time to the others. Where there is no real-time priority for its group (RT_GROUP_SCHED
// with control groups of version 1) the nice value is what is left.
//
// sched_setscheduler leaves a thread's nice value and slice as they are; so the policy alone is to be put back.
//
// Source: sched(7); Linux's kernel/sched/syscalls.c (_sched_setscheduler) and core.c (sched_fork) at 6.18.

#include "parsers/capture/before_others.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>

namespace heapsift {

BeforeOthers::BeforeOthers() : thread_(0) { raise(0); }

// Without that flag the copy that it makes would be freed at this priority.
BeforeOthers::BeforeOthers(pid_t thread) : thread_(thread) { raise(SCHED_RESET_ON_FORK); }

void BeforeOthers::raise(int flags) {
    const int policy = ::sched_getscheduler(thread_);
    if (policy < 0) return;
    const int kind = policy & ~SCHED_RESET_ON_FORK;
    if (kind != SCHED_OTHER && kind != SCHED_BATCH && kind != SCHED_IDLE) return;  // it goes before others
    sched_param lowest{};
    lowest.sched_priority = ::sched_get_priority_min(SCHED_RR);
    if (::sched_setscheduler(thread_, SCHED_RR | flags, &lowest) == 0) {
        usual_policy_ = policy;
        return;
    }
    const auto who = static_cast<id_t>(thread_);
    errno = 0;
    usual_nice_ = ::getpriority(PRIO_PROCESS, who);
    constexpr int best = -20;
    is_nicer_ = errno == 0 && ::setpriority(PRIO_PROCESS, who, best) == 0;
}

BeforeOthers::~BeforeOthers() {
    const sched_param none{};
    if (usual_policy_ >= 0) ::sched_setscheduler(thread_, usual_policy_, &none);
    if (is_nicer_) ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread_), usual_nice_);
}

}  // namespace heapsift
