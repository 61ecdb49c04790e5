#include "cli/core_times.h"

#include "analysis/program_facts.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <sys/stat.h>

namespace heapsift {

CoreTimes core_times(const HeapReader& heap, const std::string& path) {
    CoreTimes times;
    const ProcessInfo& process = heap.core().process();
    times.pid = process.pid;
    times.name = path.empty() ? std::to_string(process.pid) : std::string(base_name(path));
    if (process.captured) times.taken = static_cast<double>(process.captured->seconds);
    times.started = program_facts(heap).started;
    struct stat facts {};
    if (!path.empty() && ::stat(path.c_str(), &facts) == 0)
        times.written =
            static_cast<double>(facts.st_mtim.tv_sec) + 1e-9 * static_cast<double>(facts.st_mtim.tv_nsec);
    return times;
}

std::optional<std::string> doubt_of_order(const CoreTimes& older, const CoreTimes& newer) {
    constexpr double moment = 1;  // second; less is no order
    const std::string first = escape_for_terminal(older.name), second = escape_for_terminal(newer.name);
    constexpr const char* rule = ": the older core comes first";
    if (older.taken && newer.taken) {
        if (*newer.taken >= *older.taken) return std::nullopt;
        return fmt::format("{} is given after {}, and was taken before it{}", second, first, rule);
    }
    const bool two_processes =
        older.started && newer.started && (older.pid != newer.pid || *older.started != *newer.started);
    if (two_processes) {
        if (*newer.started + moment >= *older.started) return std::nullopt;
        return fmt::format("{} is given after {}, and its process began earlier{}", second, first, rule);
    }
    if (older.written && newer.written && *newer.written + moment < *older.written)
        return fmt::format("{} is given after {}, and its file was written earlier{}", second, first, rule);
    return std::nullopt;
}

}  // namespace heapsift
