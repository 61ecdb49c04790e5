#pragma once

// The control groups that this process is in: what a container, a service or a batch system lets it have.
// (cgroups(7); Linux, Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1/memory.rst.)

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

/// Where the kernel tells: other places in tests.
struct ControlGroupPlace {
    std::string membership = "/proc/self/cgroup";
    std::string mount = "/sys/fs/cgroup";
};

/// Bytes of memory that the group and those above it still let this process have: what its files take in the
/// page cache counts as free, since the kernel takes that back. Nothing without a limit.
std::optional<std::uint64_t> memory_left_in_group(const ControlGroupPlace& place = {});

/// Processors' worth of time that the group and those above it may take, rounded up; nothing without a limit.
std::optional<std::size_t> processors_of_group(const ControlGroupPlace& place = {});

}  // namespace heapsift
