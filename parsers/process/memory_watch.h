#pragma once

// Waits beside a living process until its memory reaches a threshold.

#include "parsers/process/memory_groups.h"
#include "parsers/process/watch_pace.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

enum class WatchMeasure {
    resident,  // what the process has in memory (VmRSS)
    growth,    // by how much that is more than when the watching began
    group      // what its control group has, all its processes, without the page cache; else the machine's
};

struct WatchCondition {
    WatchMeasure measure = WatchMeasure::resident;
    std::uint64_t bytes = 0;  // more than this; or, if 0:
    double share = 0;         // more than this part of the limit
};

/// What percentages are of, and what the process is ended for.
struct WatchLimit {
    std::uint64_t bytes = 0;
    std::string folder;       // of the control group; "" if it is the machine's memory
    bool slows_down = false;  // the group's memory.high
};

struct WatchEnd {
    enum class Reason {
        met,  // a condition
        due,  // the time that was given
        gone  // the process
    };
    Reason reason = Reason::due;
    std::size_t condition = 0;                  // which was met
    std::uint64_t measured = 0, threshold = 0;  // bytes
    std::uint64_t headroom =
        0;  // met: bytes up to what ends the process, its control groups' limit or the machine's memory
    double speed = 0;                // met: bytes a second by which that shrinks
    bool killed_for_memory = false;  // gone, and the OOM killer has ended somebody in its groups since
};

class MemoryWatch {
public:
    using Clock = std::chrono::steady_clock;

    /// Begins to watch. Throws `Error` (exit 1, "no-such-process") if there is none. Other places are for
    /// tests.
    MemoryWatch(std::int32_t pid, std::vector<WatchCondition> conditions, std::string proc = "/proc",
                bool check = true);
    ~MemoryWatch();
    MemoryWatch(const MemoryWatch&) = delete;
    MemoryWatch& operator=(const MemoryWatch&) = delete;

    /// As it is now.
    WatchLimit limit() const;
    std::uint64_t resident_bytes() const;
    /// Of the first look.
    std::uint64_t resident_at_start() const { return start_resident_; }
    /// How often it was looked at.
    std::uint64_t looks() const { return looks_; }

    /// Sleeps and looks until a condition is met, until `until`, or until the process has gone. A signal that
    /// is handled does not end it.
    WatchEnd wait(std::optional<Clock::time_point> until = std::nullopt);

private:
    struct Look;
    Look look();
    bool is_gone() const;
    void sleep(WatchPace::Duration duration) const;
    std::optional<std::uint64_t> read_resident() const;
    WatchEnd gone() const;
    WatchEnd met(std::size_t condition, std::uint64_t measured, std::uint64_t threshold, double speed) const;
    double speed_now() const;

    std::int32_t pid_;
    std::vector<WatchCondition> conditions_;
    std::string proc_;
    bool check_;
    int pidfd_ = -1;
    std::uint64_t start_time_ = 0, start_resident_ = 0, killed_before_ = 0;
    MemoryGroups groups_;
    Clock::time_point groups_found_;
    std::uint64_t looks_ = 0;
};

/// Bytes of memory that this machine has (/proc/meminfo: MemTotal).
std::uint64_t machine_memory(const std::string& proc = "/proc");

}  // namespace heapsift
