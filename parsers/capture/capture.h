#pragma once

// A core of a living process, which goes on. (How, and what it costs: capture.cpp.)

#include "parsers/base/progress.h"
#include "parsers/capture/core_file_out.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

enum class CaptureMethod : std::uint8_t {
    copy,  // memory is copied while the process runs, and compared while it stands
    fork,  // a copy of the process, made by fork in its stead, is read
    still  // the process stands until its core is written: it can take no more memory meanwhile
};

struct CaptureOptions {
    CaptureMethod method = CaptureMethod::copy;
    bool full = false;        // also program files and what the process asked not to dump
    std::size_t readers = 2;  // threads that read while the process stands
    std::uint64_t changed_in_memory =
        0;                // bytes of changed pages kept in memory; more go to a file. 0: a fourth of
                          // the memory that is free
    std::string version;  // of heapsift, for the core's own note
    ProgressCallback progress = nullptr;
    /// Of `still`: called once when the core is whole, while the process stands. What it would have done meanwhile it does as
    /// soon as it goes on, and may end by it: by then the core must have its name.
    std::function<void()> is_whole = nullptr;
};

struct CaptureResult {
    pid_t pid = 0;
    std::string name;                            // of the process (comm); not escaped
    CaptureMethod method = CaptureMethod::copy;  // the one that was used
    std::string no_fork;                  // why a fork that was asked for was not made; empty if it was
    std::uint64_t stood_nanoseconds = 0;  // from the first thread that was stopped to the last that went on
    std::uint64_t threads = 0;
    std::uint64_t pages = 0,
                  changed_pages = 0;  // that were read; of them changed since they were first copied
    std::uint64_t memory_bytes = 0;   // of all mappings
    std::uint64_t file_bytes =
        0;  // of the core as it is read: holes and all; of a compressed one, of the file
    std::uint64_t disk_bytes = 0;   // what it takes
    std::uint64_t nanoseconds = 0;  // all of it
    // By a fork: what the copy does not show as it was at the stop.
    std::uint64_t not_in_fork_bytes = 0;  // left out (MADV_DONTFORK)
    std::uint64_t shared_bytes = 0;       // read afterwards, since it is shared with whoever writes it
};

/// Writes the core of `pid` into `target`. Throws `Error` (exit 1), and the process goes on as it was: "no-such-process",
/// "zombie", "kernel-thread", "itself", "traced", "not-permitted", "process-ended", "program-replaced", "does-not-stop", "not-x86-64",
/// "cannot-write", "no-proc". The file is then of no use.
/// Cost: memory for hashes (12 bytes a page) and for the pages that changed; the disk that the core takes. Call it while
/// this process has one thread.
CaptureResult capture(pid_t pid, const CaptureTarget& target, const CaptureOptions& options);

/// The processes whose parent is `pid`, and theirs, in order of their number; threads are not processes.
std::vector<pid_t> children_of(pid_t pid);

}  // namespace heapsift
