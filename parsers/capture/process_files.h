#pragma once

// /proc/PID of a living process: its text files, whole.

#include "parsers/base/descriptor.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// Holds /proc/PID open: what is read through it is of this process, or fails once the process has ended, even if its
/// number was given to another.
class ProcessFiles {
public:
    /// Throws `Error` (exit 1): "no-such-process"; "no-proc" if /proc is not mounted.
    explicit ProcessFiles(pid_t pid);

    pid_t pid() const { return pid_; }
    // All that open a file throw `Error` (exit 1) "too-many-files" where that is for want of descriptors (RLIMIT_NOFILE).

    /// The whole of a file below /proc/PID; nothing if it cannot be opened or read (`reason`, if given, is the errno).
    std::optional<std::string> read(const std::string& name, int* reason = nullptr) const;
    Descriptor open(const std::string& name, int flags) const;
    /// Where a symbolic link below /proc/PID leads; empty if it does not tell.
    std::string link(const std::string& name) const;
    /// The names in a folder below /proc/PID that are numbers, in order; none if it cannot be read.
    std::vector<std::int32_t> numbers_in(const std::string& name) const;
    /// Its threads. Empty once the process has ended.
    std::vector<pid_t> threads() const { return numbers_in("task"); }

private:
    pid_t pid_;
    Descriptor folder_;
};

/// What follows "NAME:" in a file like /proc/PID/status, without the blanks around it; empty if it is not there.
std::string_view status_field(std::string_view text, std::string_view name);

/// /proc/PID/stat, whose second field may hold anything, blanks and brackets too.
struct ProcessStat {
    std::string name;                               // comm, at most 15 bytes
    char state = '?';                               // R, S, D, T, t, Z, X
    std::vector<std::int64_t> fields = {};          // from the fourth on: ppid, pgrp, session, …
    std::int64_t field(std::size_t number) const {  // as proc(5) counts them, from 4 on; 0 if it is not there
        return number >= 4 && number - 4 < fields.size() ? fields[number - 4] : 0;
    }
};
std::optional<ProcessStat> read_stat(std::string_view text);

/// The number that the process or thread with this /proc/PID/status has in its own namespace.
pid_t own_number(std::string_view status, pid_t otherwise);

}  // namespace heapsift
