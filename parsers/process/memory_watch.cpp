// Looking is polling: a control group of version 1 could tell of a threshold by itself
// (cgroup.event_control), one of version 2 only of limits that were already hit, and neither of one process
// in it. How often is watch_pace's part. Between two looks it sleeps on a pidfd, which ends the sleep when
// the process ends; without one (before Linux 5.3) the end is seen at the next look, and the time when a
// process started tells it from a later one with its number.
//
// A limit can be changed while the process runs (systemctl set-property, a resized pod), and a process can be
// moved, its group be renamed: limits, and in which group it is, are read anew at each look, where the groups
// are mounted every ten seconds.

#include "parsers/process/memory_watch.h"

#include "parsers/base/error.h"
#include "parsers/process/proc_file.h"
#include "parsers/process/process_facts.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace heapsift {
namespace {

std::uint64_t meminfo(const std::string& text, std::string_view key) {
    const auto line = line_of(text, key);
    return std::min(line ? leading_number(*line).value_or(0) : 0, UINT64_MAX / 1024) * 1024;
}

/// The machine as if it were a group.
GroupUse machine_use(const std::string& proc) {
    const std::string text = read_proc_file(proc + "/meminfo").value_or("");
    const std::uint64_t total = meminfo(text, "MemTotal:"), free = meminfo(text, "MemAvailable:");
    return {"", total, false, total - std::min(total, free),
            total - std::min(total, meminfo(text, "MemFree:"))};
}

Error no_such_process(std::int32_t pid) {
    return cannot_analyse("no-such-process", fmt::format("there is no process {}", pid));
}

}  // namespace

std::uint64_t machine_memory(const std::string& proc) { return machine_use(proc).limit; }

/// What one look has seen: for each condition how much there is, and how much is too much.
struct MemoryWatch::Look {
    bool gone = false;
    struct Value {
        std::uint64_t measured = 0, threshold = 0;
    };
    std::vector<Value> values;
    std::uint64_t least_left = UINT64_MAX;
    std::uint64_t largest = 0;  // threshold, up to the limit: by it is told what growth is fast
};

MemoryWatch::MemoryWatch(std::int32_t pid, std::vector<WatchCondition> conditions, std::string proc,
                         bool check)
    : pid_(pid), conditions_(std::move(conditions)), proc_(std::move(proc)), check_(check) {
    const auto started = start_time(pid_, proc_);
    const auto resident = read_resident();
    if (!started || !resident) throw no_such_process(pid_);
    start_time_ = *started;
    start_resident_ = *resident;
    if (check_) pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    groups_ = MemoryGroups::of(pid_, proc_, check_);
    groups_found_ = Clock::now();
    killed_before_ = groups_.killed();
    if (is_gone()) throw no_such_process(pid_);
}

MemoryWatch::~MemoryWatch() {
    if (pidfd_ >= 0) ::close(pidfd_);
}

// Of the second number of /proc/PID/statm, which costs less than VmRSS and differs from it by what is counted
// on other processors: at most a few hundred pages.
std::optional<std::uint64_t> MemoryWatch::read_resident() const {
    const auto text = read_proc_file(fmt::format("{}/{}/statm", proc_, pid_), 256);
    const std::size_t blank = text ? text->find(' ') : std::string::npos;
    if (blank == std::string::npos) return std::nullopt;
    const auto pages = leading_number(std::string_view(*text).substr(blank));
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (!pages || *pages > UINT64_MAX / page) return std::nullopt;
    return *pages * page;
}

bool MemoryWatch::is_gone() const {
    if (pidfd_ >= 0) {
        pollfd end{pidfd_, POLLIN, 0};
        return ::poll(&end, 1, 0) > 0;
    }
    const auto facts = process_facts(pid_, proc_);
    return !facts || facts->state == 'Z' || facts->state == 'X' || start_time(pid_, proc_) != start_time_;
}

void MemoryWatch::sleep(WatchPace::Duration duration) const {
    const double seconds = std::max(duration.count(), 0.0);
    timespec time{static_cast<time_t>(seconds), 0};
    time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    pollfd end{pidfd_, POLLIN, 0};
    ::ppoll(&end, pidfd_ >= 0 ? 1 : 0, &time, nullptr);
}

WatchLimit MemoryWatch::limit() const {
    const auto group = groups_.smallest();
    const std::uint64_t machine = machine_memory(proc_);
    if (group && (machine == 0 || group->limit < machine))
        return {group->limit, group->folder, group->slows_down};
    return {machine, "", false};
}

std::uint64_t MemoryWatch::resident_bytes() const { return read_resident().value_or(0); }

MemoryWatch::Look MemoryWatch::look() {
    ++looks_;
    Look seen;
    const auto resident = read_resident();
    if (!resident || is_gone()) {
        seen.gone = true;
        return seen;
    }
    constexpr std::chrono::seconds groups_last{10};
    const bool moved = !groups_.are_those_of(pid_, proc_);
    if (moved || Clock::now() - groups_found_ > groups_last) {
        groups_ = MemoryGroups::of(pid_, proc_, check_);
        groups_found_ = Clock::now();
        if (moved) killed_before_ = groups_.killed();
    }
    const std::uint64_t least_limit = limit().bytes;
    for (const WatchCondition& condition : conditions_) {
        Look::Value value;
        std::uint64_t whole = least_limit;
        switch (condition.measure) {
            case WatchMeasure::resident:
                value.measured = *resident;
                break;
            case WatchMeasure::growth:
                value.measured = *resident - std::min(*resident, start_resident_);
                break;
            case WatchMeasure::group: {
                const GroupUse use = groups_.fullest().value_or(machine_use(proc_));
                value.measured = use.used;
                whole = use.limit;
                break;
            }
        }
        value.threshold = condition.bytes > 0
                              ? condition.bytes
                              : static_cast<std::uint64_t>(condition.share * static_cast<double>(whole));
        seen.least_left =
            std::min(seen.least_left, value.threshold - std::min(value.threshold, value.measured));
        seen.largest = std::max(seen.largest, std::min(value.threshold, whole));
        seen.values.push_back(value);
    }
    return seen;
}

double MemoryWatch::speed_now() const {
    constexpr WatchPace::Duration moment{0.02};
    const std::uint64_t before = resident_bytes();
    const Clock::time_point began = Clock::now();
    sleep(moment);
    const WatchPace::Duration took = Clock::now() - began;
    const std::uint64_t after = resident_bytes();
    return static_cast<double>(after - std::min(after, before)) / took.count();
}

WatchEnd MemoryWatch::met(std::size_t condition, std::uint64_t measured, std::uint64_t threshold,
                          double speed) const {
    WatchEnd end{WatchEnd::Reason::met, condition, measured, threshold, 0, speed, false};
    const GroupUse machine = machine_use(proc_), group = groups_.fullest().value_or(machine);
    const auto left = [](const GroupUse& use) { return use.limit - std::min(use.limit, use.used); };
    end.headroom = std::min(left(group), left(machine));
    return end;
}

WatchEnd MemoryWatch::gone() const {
    WatchEnd end;
    end.reason = WatchEnd::Reason::gone;
    end.killed_for_memory = groups_.killed() > killed_before_;
    return end;
}

WatchEnd MemoryWatch::wait(std::optional<Clock::time_point> until) {
    std::optional<WatchPace> pace;
    Clock::time_point last = Clock::now();
    for (;;) {
        const Look seen = look();
        if (seen.gone) return gone();
        for (std::size_t i = 0; i < seen.values.size(); ++i)
            if (const auto& [measured, threshold] = seen.values[i]; measured > threshold)
                return met(i, measured, threshold,
                           pace ? (pace->next(0, Clock::now() - last), pace->speed()) : speed_now());
        const Clock::time_point now = Clock::now();
        if (until && now >= *until) return {};
        if (!pace) pace.emplace(seen.largest);
        WatchPace::Duration rest =
            conditions_.empty() ? WatchPace::Duration(60) : pace->next(seen.least_left, now - last);
        last = now;
        if (until) rest = std::min(rest, WatchPace::Duration(*until - now));
        sleep(rest);
    }
}

}  // namespace heapsift
