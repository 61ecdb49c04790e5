// Memory is booked by its peak, since that is what a machine must have: a pass that fits into what an earlier
// one gave back costs nothing. The kernel keeps the peak. Asking for it is a system call, made when the pass
// changes and not at each report of progress.

#include "parsers/base/passes.h"

#include <sys/resource.h>
#include <ctime>

#include <algorithm>

namespace heapsift {
namespace {

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Spent Spent::now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID),
            static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

PassClock::PassClock(std::function<Spent()> spent) : spent_(std::move(spent)) {
    last_.seconds = spent_().seconds;
    passes_.push_back({"start", 0, 0, 0});
}

void PassClock::book() {
    const Spent now = spent_();
    Pass& pass = passes_[current_];
    pass.seconds += now.seconds - last_.seconds;
    pass.cpu_seconds += now.cpu_seconds - last_.cpu_seconds;
    pass.peak_bytes += now.peak_bytes - std::min(now.peak_bytes, last_.peak_bytes);
    last_ = {now.seconds, now.cpu_seconds, std::max(now.peak_bytes, last_.peak_bytes)};
}

void PassClock::enter(std::string_view name) {
    if (passes_[current_].name == name) return;
    book();
    const auto known =
        std::find_if(passes_.begin(), passes_.end(), [&](const Pass& pass) { return pass.name == name; });
    current_ = static_cast<std::size_t>(known - passes_.begin());
    if (known == passes_.end()) passes_.push_back({std::string(name), 0, 0, 0});
}

std::vector<Pass> PassClock::passes() {
    book();
    return passes_;
}

}  // namespace heapsift
