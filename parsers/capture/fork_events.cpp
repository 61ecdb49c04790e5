// A userfaultfd lets a process answer the page faults of its own memory; databases, collectors and emulators do. It may ask
// to be told of forks as well (UFFD_FEATURE_EVENT_FORK), and then the kernel holds the forking thread until the event has been
// read. Whoever reads it is a thread of the process as a rule, and stands while the copy is made; nothing but the end of the
// process ends that wait.
//
// Memory that belongs to a userfaultfd has a flag in smaps (um, uw, ui); without such memory a fork has no event. The
// features are in the fdinfo of the file: "API: aa:FEATURES:…", in hexadecimal. If the file is another process's (which
// pages memory in from elsewhere), or cannot be looked at, the event is assumed.
//
// Source: ioctl_userfaultfd(2); Linux's fs/userfaultfd.c (dup_userfaultfd, userfaultfd_event_wait_completion,
// userfaultfd_show_fdinfo), fs/proc/task_mmu.c (show_smap_vma_flags).

#include "parsers/capture/fork_events.h"

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heapsift {

std::optional<unsigned> userfaultfd_features(std::string_view fdinfo) {
    const std::string_view api = status_field(fdinfo, "API");
    const std::size_t colon = api.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    unsigned features = 0;
    const char* const end = api.data() + api.size();
    const auto [after, error] = std::from_chars(api.data() + colon + 1, end, features, 16);
    return error == std::errc() && after != end && *after == ':' ? std::optional(features) : std::nullopt;
}

bool fork_waits_for_reader(const ProcessFiles& process, std::span<const Mapping> mappings) {
    if (std::none_of(mappings.begin(), mappings.end(), [](const Mapping& m) { return m.userfaultfd; }))
        return false;
    constexpr unsigned fork_events = 1 << 1;  // UFFD_FEATURE_EVENT_FORK
    bool found = false;
    for (const std::int32_t file : process.numbers_in("fd")) {
        if (process.link(fmt::format("fd/{}", file)) != "anon_inode:[userfaultfd]") continue;
        const auto features = userfaultfd_features(process.read(fmt::format("fdinfo/{}", file)).value_or(""));
        if (!features || (*features & fork_events) != 0) return true;
        found = true;
    }
    return !found;
}

}  // namespace heapsift
