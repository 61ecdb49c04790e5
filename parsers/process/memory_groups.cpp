// A mount of control groups shows one group and what is below it, and the membership of a process is a path
// from the root of the hierarchy, both as the reader's cgroup namespace sees them. So the folder of a group
// is found as the mount's place plus the path without the mount's root.
//
// The reader's own mount is asked first. In a container that shares only its process ids with another one (a
// sidecar), it shows the reader's own group and not the other's: then the mount that the process itself has
// is asked, below /proc/PID/root. Whoever may change that folder could lay anything there, so there only
// files of the kernel's own cgroup file systems are read.

#include "parsers/process/memory_groups.h"

#include "parsers/process/proc_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;  // v1 gives a number near 2^63
constexpr std::size_t most_text = 1 << 20;
constexpr std::size_t deepest = 4096;  // more do not fit into a path

/// Calls `visit` with each part of `text` between separators.
template <class Visit>
void for_each_part(std::string_view text, char separator, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for_each_part(text, separator, [&](std::string_view part) { parts.push_back(part); });
    return parts;
}

bool has_word(std::string_view list, std::string_view word) {
    bool found = false;
    for_each_part(list, ',', [&](std::string_view part) { found = found || part == word; });
    return found;
}

/// mountinfo writes blanks, tabs, line ends and backslashes as \040.
std::string unescaped(std::string_view text) {
    std::string result;
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
            is_octal(text[i + 3])) {
            result +=
                static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

/// A path with ".." below its beginning would lead out of the mount.
bool leads_out(std::string_view path) {
    bool found = false;
    for_each_part(path, '/', [&](std::string_view part) { found = found || part == ".."; });
    return found;
}

struct MemoryFiles {
    const char *limit, *high, *used, *inactive_files, *active_files, *events;
};
constexpr MemoryFiles files_v1 = {"memory.limit_in_bytes", nullptr,
                                  "memory.usage_in_bytes", "total_inactive_file ",
                                  "total_active_file ",    "memory.oom_control"};
constexpr MemoryFiles files_v2 = {"memory.max",     "memory.high",  "memory.current",
                                  "inactive_file ", "active_file ", "memory.events"};

const MemoryFiles& files_of(GroupVersion version) {
    return version == GroupVersion::v1 ? files_v1 : files_v2;
}

std::optional<GroupUse> fullest_of(const std::vector<GroupUse>& uses) {
    const auto left = [](const GroupUse& use) { return use.limit - std::min(use.limit, use.used); };
    const auto least = std::min_element(
        uses.begin(), uses.end(), [&](const GroupUse& a, const GroupUse& b) { return left(a) < left(b); });
    return least == uses.end() ? std::nullopt : std::optional(*least);
}

}  // namespace

// 36 35 98:0 /group /place rw,noatime master:1 - cgroup2 cgroup2 rw,memory
std::vector<GroupMount> group_mounts_in(std::string_view mountinfo, std::string_view controller) {
    std::vector<GroupMount> mounts;
    for_each_part(mountinfo, '\n', [&](std::string_view line) {
        const auto fields = parts_of(line, ' ');
        const auto dash =
            std::find(fields.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(6, fields.size())),
                      fields.end(), "-");
        if (fields.end() - dash < 4) return;
        const std::string_view type = dash[1], options = dash[3];
        if (type == "cgroup2")
            mounts.push_back({GroupVersion::v2, unescaped(fields[3]), unescaped(fields[4])});
        else if (type == "cgroup" && has_word(options, controller))
            mounts.push_back({GroupVersion::v1, unescaped(fields[3]), unescaped(fields[4])});
    });
    return mounts;
}

// 4:memory:/docker/abc of version 1, 0::/app.slice of version 2
std::optional<std::string> group_path_in(std::string_view membership, GroupVersion version,
                                         std::string_view controller) {
    std::optional<std::string> path;
    for_each_part(membership, '\n', [&](std::string_view line) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (path || second == std::string_view::npos) return;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        if (version == GroupVersion::v2 ? controllers.empty() : has_word(controllers, controller))
            path = line.substr(second + 1);
    });
    return path;
}

std::optional<std::string> path_below(const std::string& root, const std::string& path) {
    std::string_view rest = path;
    if (root != "/") {
        if (!rest.starts_with(root)) return std::nullopt;
        rest.remove_prefix(root.size());
        if (!rest.empty() && rest.front() != '/') return std::nullopt;
    }
    if (rest == "/") rest = {};
    if (leads_out(rest)) return std::nullopt;
    return std::string(rest);
}

std::optional<std::string> frozen_group(std::int32_t pid, const std::string& proc, bool check) {
    const std::string process = fmt::format("{}/{}", proc, pid);
    const auto membership = read_proc_file(process + "/cgroup");
    const auto path = membership ? group_path_in(*membership, GroupVersion::v1, "freezer") : std::nullopt;
    if (!path) return std::nullopt;
    for (const std::string& before : {std::string(), process + "/root"}) {
        const auto mounts =
            read_proc_file((before.empty() ? proc + "/self" : process) + "/mountinfo", most_text);
        for (const GroupMount& mount :
             mounts ? group_mounts_in(*mounts, "freezer") : std::vector<GroupMount>()) {
            const auto below =
                mount.version == GroupVersion::v1 ? path_below(mount.root, *path) : std::nullopt;
            if (!below) continue;
            const std::string folder = before + mount.place + *below;
            const auto state = read_proc_file(folder + "/freezer.state", 64,
                                              check ? ProcFileOf::control_groups : ProcFileOf::anything);
            // FREEZING: some of it still runs, and nothing new can be stopped. A group below a frozen one says the same.
            if (state && (state->starts_with("FROZEN") || state->starts_with("FREEZING"))) return folder;
            if (state) return std::nullopt;
        }
    }
    return std::nullopt;
}

std::optional<std::string> MemoryGroups::read(const std::string& path) const {
    return read_proc_file(path, 1 << 14, check_ ? ProcFileOf::control_groups : ProcFileOf::anything);
}

MemoryGroups MemoryGroups::of(std::int32_t pid, const std::string& proc, bool check) {
    MemoryGroups groups;
    groups.check_ = check;
    const std::string process = fmt::format("{}/{}", proc, pid);
    groups.membership_ = read_proc_file(process + "/cgroup");
    const auto& membership = groups.membership_;
    if (!membership) return groups;
    for (const GroupVersion version : {GroupVersion::v1, GroupVersion::v2}) {
        const auto path = group_path_in(*membership, version);
        if (!path) continue;
        // True if the mount shows the group.
        const auto add = [&](const GroupMount& mount, const std::string& before) {
            if (mount.version != version) return false;
            const auto below = path_below(mount.root, *path);
            if (!below) return false;
            const std::string top = before + mount.place;
            std::string folder = top + *below;
            for (std::size_t depth = 0; depth < deepest && folder.size() > top.size(); ++depth) {
                groups.folders_.push_back({folder, version});
                folder.resize(folder.rfind('/'));
            }
            groups.folders_.push_back({top, version});
            return true;
        };
        const auto any = [&](const std::string& mountinfo, const std::string& before) {
            const auto text = read_proc_file(mountinfo, most_text);
            const auto mounts = text ? group_mounts_in(*text) : std::vector<GroupMount>();
            return std::any_of(mounts.begin(), mounts.end(),
                               [&](const GroupMount& mount) { return add(mount, before); });
        };
        if (!any(proc + "/self/mountinfo", "")) any(process + "/mountinfo", process + "/root");
    }
    return groups;
}

bool MemoryGroups::are_those_of(std::int32_t pid, const std::string& proc) const {
    return read_proc_file(fmt::format("{}/{}/cgroup", proc, pid)) == membership_;
}

std::optional<GroupUse> MemoryGroups::use_of(const Folder& folder, bool with_high) const {
    const MemoryFiles& names = files_of(folder.version);
    const auto number = [&](const char* name) -> std::optional<std::uint64_t> {
        const auto text = name ? read(folder.path + "/" + name) : std::nullopt;
        return text ? leading_number(*text) : std::nullopt;  // "max" and "-1" mean no limit
    };
    const std::uint64_t limit = number(names.limit).value_or(no_limit),
                        high = with_high ? number(names.high).value_or(no_limit) : no_limit;
    if (std::min(limit, high) >= no_limit) return std::nullopt;
    const auto current = number(names.used);
    if (!current) return std::nullopt;
    GroupUse use{folder.path, std::min(limit, high), high < limit, *current, *current};
    if (const auto facts = read(folder.path + "/memory.stat")) {
        const auto of_files = [&](const char* name) {
            const auto line = line_of(*facts, name);
            return std::min(line ? leading_number(*line).value_or(0) : 0, no_limit);
        };
        use.used -= std::min(use.used, of_files(names.inactive_files) + of_files(names.active_files));
    }
    return use;
}

std::vector<GroupUse> MemoryGroups::limited() const {
    std::vector<GroupUse> uses;
    for (const Folder& folder : folders_)
        if (const auto use = use_of(folder)) uses.push_back(*use);
    return uses;
}

std::optional<GroupUse> MemoryGroups::smallest() const {
    const auto uses = limited();
    const auto least = std::min_element(
        uses.begin(), uses.end(), [](const GroupUse& a, const GroupUse& b) { return a.limit < b.limit; });
    return least == uses.end() ? std::nullopt : std::optional(*least);
}

std::optional<GroupUse> MemoryGroups::fullest() const { return fullest_of(limited()); }

// A limit that is reached ends the topmost group below it, or itself, that has the flag (mm/memcontrol.c,
// mem_cgroup_get_oom_group).
std::optional<GroupUse> MemoryGroups::ended_as_one() const {
    std::vector<GroupUse> uses;
    bool as_one = false;
    for (const Folder& folder : folders_) {  // from the process's own up
        if (folder.version != GroupVersion::v2) continue;
        const auto flag = read(folder.path + "/memory.oom.group");
        as_one = as_one || (flag && leading_number(*flag) == std::uint64_t{1});
        if (const auto use = as_one ? use_of(folder, false) : std::nullopt) uses.push_back(*use);
    }
    return fullest_of(uses);
}

std::uint64_t MemoryGroups::killed() const {
    std::uint64_t most = 0;
    for (const Folder& folder : folders_) {
        const auto text = read(folder.path + "/" + files_of(folder.version).events);
        const auto line = text ? line_of(*text, "oom_kill ") : std::nullopt;
        if (line) most = std::max(most, leading_number(*line).value_or(0));
    }
    return most;
}

}  // namespace heapsift
