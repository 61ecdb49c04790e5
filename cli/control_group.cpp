// Version 2 has one tree of groups; version 1 has one for each controller, and both may be there at once. In a
// container the mount often shows the container's own group as the root, while the membership still names the
// path on the host: folders that are not there are passed over, and the root is always asked.

#include "cli/control_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max" means no limit, and so does -1
}

/// The number behind `name ` in a file of such lines; 0 if it is not there.
std::uint64_t number_of(const fs::path& path, std::string_view name) {
    std::ifstream file(path);
    std::string key;
    for (std::uint64_t number = 0; file >> key >> number;)
        if (key == name) return number;
    return 0;
}

struct ControlGroup {
    fs::path folder;
    bool is_v2;
};

/// The group of the controller and those above it, in both versions, as far as their folders are there.
std::vector<ControlGroup> groups(std::string_view controller, const ControlGroupPlace& place) {
    std::vector<ControlGroup> found;
    const auto add = [&](const fs::path& root, std::string_view path, bool is_v2) {
        std::error_code error;
        fs::path below = fs::path(path).relative_path().lexically_normal();
        if (!below.empty() && *below.begin() == "..") below.clear();  // of a group outside this namespace
        for (; !below.empty() && below != "."; below = below.parent_path())
            if (fs::is_directory(root / below, error)) found.push_back({root / below, is_v2});
        if (fs::is_directory(root, error)) found.push_back({root, is_v2});
    };
    std::ifstream membership(place.membership);
    for (std::string line; std::getline(membership, line);) {
        std::istringstream fields(line);  // hierarchy:controllers:path
        std::string hierarchy, controllers, path;
        if (!std::getline(fields, hierarchy, ':') || !std::getline(fields, controllers, ':')) continue;
        std::getline(fields, path);
        if (controllers.empty()) add(place.mount, path, true);
        std::istringstream names(controllers);
        for (std::string name; std::getline(names, name, ',');)
            if (name == controller) add(fs::path(place.mount) / controller, path, false);
    }
    return found;
}

struct MemoryNames {
    const char *limit, *used, *inactive_files, *active_files;
};
constexpr MemoryNames v2_memory = {"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr MemoryNames v1_memory = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                   "total_active_file"};

}  // namespace

std::optional<std::uint64_t> memory_left_in_group(const ControlGroupPlace& place) {
    constexpr std::uint64_t most = std::uint64_t{1} << 60;  // v1 gives a number near 2^63 for no limit
    std::optional<std::uint64_t> least;
    for (const auto& [folder, is_v2] : groups("memory", place)) {
        const MemoryNames& names = is_v2 ? v2_memory : v1_memory;
        const auto limit = number_in(folder / names.limit), used = number_in(folder / names.used);
        if (!limit || !used || *limit >= most) continue;
        const fs::path facts = folder / "memory.stat";
        const std::uint64_t files =
            number_of(facts, names.inactive_files) + number_of(facts, names.active_files);
        const std::uint64_t kept = *used - std::min(files, *used);
        const std::uint64_t left = *limit - std::min(kept, *limit);
        least = std::min(least.value_or(left), left);
    }
    return least;
}

std::optional<std::size_t> processors_of_group(const ControlGroupPlace& place) {
    std::optional<std::size_t> least;
    for (const auto& [folder, is_v2] : groups("cpu", place)) {
        std::uint64_t quota = 0, period = 0;
        if (is_v2) {
            std::ifstream file(folder / "cpu.max");
            if (!(file >> quota >> period)) continue;
        } else {
            quota = number_in(folder / "cpu.cfs_quota_us").value_or(0);
            period = number_in(folder / "cpu.cfs_period_us").value_or(0);
        }
        constexpr std::uint64_t most = std::uint64_t{1} << 40;
        if (quota == 0 || period == 0 || quota > most) continue;
        const auto processors = static_cast<std::size_t>((quota + period - 1) / period);
        least = std::min(least.value_or(processors), processors);
    }
    return least;
}

}  // namespace heapsift
