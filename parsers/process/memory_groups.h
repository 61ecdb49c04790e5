#pragma once

// The control groups that limit the memory of a process: its own and those above it, in both versions, seen
// from the host, from inside a container, or from the container beside it (cgroups(7); Linux,
// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

enum class GroupVersion { v1, v2 };

/// A mount of a hierarchy with a controller (or of version 2, which may have it).
struct GroupMount {
    GroupVersion version = GroupVersion::v2;
    std::string root;   // which group lies there: a path as in /proc/PID/cgroup
    std::string place;  // where it is mounted
    bool operator==(const GroupMount&) const = default;
};

/// Reads the text of /proc/PID/mountinfo; lines that are not understood are skipped. `controller`: of version 1.
std::vector<GroupMount> group_mounts_in(std::string_view mountinfo, std::string_view controller = "memory");

/// The path of the process's group in a hierarchy, by the text of /proc/PID/cgroup; nothing if it is in none.
std::optional<std::string> group_path_in(std::string_view membership, GroupVersion version,
                                         std::string_view controller = "memory");

/// `path` below the group that is mounted, "" for that group itself; nothing if the mount does not show it.
std::optional<std::string> path_below(const std::string& root, const std::string& path);

/// The folder of the control group of version 1 that keeps the process frozen (freezer.state), in which nobody can stop
/// it; nothing if it is not frozen, or that cannot be seen. (One that version 2 froze can be stopped.) `proc` and `check` are for
/// tests.
std::optional<std::string> frozen_group(std::int32_t pid, const std::string& proc = "/proc",
                                        bool check = true);

/// What a group may have, and has. Bytes.
struct GroupUse {
    std::string folder;         // "/sys/fs/cgroup/app.slice"
    std::uint64_t limit = 0;    // memory.max or memory.high, whichever is less
    bool slows_down = false;    // it is memory.high: the kernel takes memory back instead of killing
    std::uint64_t used = 0;     // without what files take in the page cache: the kernel takes that back
    std::uint64_t current = 0;  // with it
};

class MemoryGroups {
public:
    /// Finds them. `proc` and `check` (whether only the kernel's own files count) are for tests. No error: a
    /// process that has gone has no groups.
    static MemoryGroups of(std::int32_t pid, const std::string& proc = "/proc", bool check = true);

    /// False once the process is in another group than then, or its group has another name.
    bool are_those_of(std::int32_t pid, const std::string& proc = "/proc") const;

    /// Those with a limit, each as it is now, the process's own first. Cost: three small files a group.
    std::vector<GroupUse> limited() const;
    /// The one whose limit is least; nothing without one.
    std::optional<GroupUse> smallest() const;
    /// The one that is nearest to its limit: the least is left there.
    std::optional<GroupUse> fullest() const;
    /// Of those in which the OOM killer ends all processes at once (memory.oom.group, version 2; kubernetes sets it for each
    /// container) the one that is nearest to its memory.max; nothing without one.
    std::optional<GroupUse> ended_as_one() const;
    /// Processes of these groups that the OOM killer has ended so far.
    std::uint64_t killed() const;

private:
    struct Folder {
        std::string path;
        GroupVersion version;
    };
    std::optional<std::string> read(const std::string& path) const;
    std::optional<GroupUse> use_of(const Folder& folder, bool with_high = true) const;

    std::vector<Folder> folders_;
    std::optional<std::string> membership_;  // /proc/PID/cgroup
    bool check_ = true;
};

}  // namespace heapsift
