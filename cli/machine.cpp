// In a container the machine has more than a process may take: the smaller of both limits counts (memory:
// proc(5), MemAvailable; processors: sched_getaffinity(2); and those of the control groups).

#include "cli/machine.h"

#include "cli/control_group.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace heapsift {
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
    if (const auto left = memory_left_in_group()) available = std::min(available.value_or(*left), *left);
    return available;
}

std::string own_directory(const char* variable, const char* beside) {
    const char* named = std::getenv(variable);
    if (named && *named == '/') return std::string(named) + "/heapsift";
    const char* home = std::getenv("HOME");
    return home && *home == '/' ? std::string(home) + beside + "/heapsift" : std::string();
}

}  // namespace heapsift
