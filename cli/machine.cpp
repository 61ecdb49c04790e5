// In a container the machine has more than a process may take: the smaller of both limits counts (memory:
// proc(5), MemAvailable; cgroup v2 memory.max and memory.current, and their names in v1; processors:
// sched_getaffinity(2); cgroup v2 cpu.max, and v1 cpu.cfs_quota_us and cpu.cfs_period_us).

#include "cli/machine.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace heapsift {
namespace {

std::optional<std::uint64_t> number_in(const char* path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max" means no limit
}

/// Processors' worth of time that the control group may take, rounded up; nothing without a limit.
std::optional<std::size_t> processors_of_group() {
    std::uint64_t quota = 0, period = 0;
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    if (!(file >> quota >> period)) {
        quota = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").value_or(0);
        period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us").value_or(0);
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 40;  // v1 says -1 for no limit
    if (quota == 0 || period == 0 || quota > most) return std::nullopt;
    return static_cast<std::size_t>((quota + period - 1) / period);
}

}  // namespace

std::size_t available_processors() {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (::sched_getaffinity(0, sizeof processors, &processors) != 0) return 1;
    const auto here = static_cast<std::size_t>(std::max(CPU_COUNT(&processors), 1));
    return std::min(here, processors_of_group().value_or(here));
}

std::optional<std::uint64_t> available_memory() {
    std::optional<std::uint64_t> available;
    std::ifstream facts("/proc/meminfo");
    for (std::string line; std::getline(facts, line);)
        if (line.starts_with("MemAvailable:"))
            available = std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
    constexpr const char* groups[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    for (const auto& group : groups) {
        const auto most = number_in(group[0]), used = number_in(group[1]);
        if (!most || !used) continue;
        const std::uint64_t left = *most - std::min(*most, *used);
        available = std::min(available.value_or(left), left);
    }
    return available;
}

std::string own_directory(const char* variable, const char* beside) {
    const char* named = std::getenv(variable);
    if (named && *named == '/') return std::string(named) + "/heapsift";
    const char* home = std::getenv("HOME");
    return home && *home == '/' ? std::string(home) + beside + "/heapsift" : std::string();
}

}  // namespace heapsift
