#pragma once

// What /proc says of a process (proc(5), proc_pid_status(5)).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ProcessFacts {
    std::int32_t pid = 0;      // of the task that was asked about
    std::int32_t process = 0;  // of the process that it is a thread of: the same for a process id
    std::int32_t parent = 0;
    std::string name;  // at most 15 bytes; the process chose it: not escaped
    char state = '?';  // R, S, D, T (stopped), t (traced), Z (zombie), X (dead), I (idle kernel thread)
    bool kernel_thread = false;
    std::uint32_t user = 0, effective_user = 0, saved_user = 0;
    std::uint32_t group = 0, effective_group = 0, saved_group = 0;
    std::uint64_t permitted = 0, effective = 0;  // capabilities, a bit each (capabilities(7))
    std::vector<std::int32_t> namespace_pids;    // its id in each nested PID namespace, outermost first
    std::optional<std::uint64_t> resident_bytes, swapped_bytes, anonymous_bytes,
        shared_bytes;  // none without memory
};

inline constexpr unsigned capability_sys_ptrace = 19;

/// Reads the text of /proc/PID/status. Nothing if it is not such a text.
std::optional<ProcessFacts> read_process_status(std::string_view text);

/// Of a process, or of a thread by its id; nothing if there is none that can be seen. `proc` is another place
/// in tests.
std::optional<ProcessFacts> process_facts(std::int32_t pid, const std::string& proc = "/proc");

/// When it started, in clock ticks since the machine did: tells it from another process with the same number.
/// Reads the text of /proc/PID/stat.
std::optional<std::uint64_t> start_time_in(std::string_view stat);
std::optional<std::uint64_t> start_time(std::int32_t pid, const std::string& proc = "/proc");

}  // namespace heapsift
