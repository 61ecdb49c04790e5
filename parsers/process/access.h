#pragma once

// Whether the memory of a process may be read, and if not, why not and what would allow it.

#include "parsers/base/error.h"
#include "parsers/process/process_facts.h"

#include <optional>
#include <string>

namespace heapsift {

/// What decides about it, as the kernel's ptrace_may_access does (ptrace(2), "Ptrace access mode checking").
struct AccessFacts {
    std::int32_t pid = 0;  // as it was asked for
    std::optional<ProcessFacts> process;
    ProcessFacts self;
    int refused = 0;                          // errno of opening the process's memory; 0: it may be read
    std::optional<bool> dumpable;             // prctl(PR_SET_DUMPABLE): false also after setuid programs
    std::optional<bool> same_user_namespace;  // nothing if that may not be read either
    bool in_user_namespace = false;           // this process is in one that is not the machine's own
    bool processes_hidden = false;            // /proc is mounted with hidepid
    std::optional<int> yama_scope;            // kernel.yama.ptrace_scope; nothing without Yama
    std::string frozen_group = {};  // the folder of the control group that keeps it frozen; "" if none does
    /// Where the process's first thread has ended and others go on, one of these; else 0. The kernel shows the memory by its
    /// number alone.
    std::int32_t living_thread = 0;
};

/// Looks at the process. Opens its memory, which stops nothing and leaves no trace. `proc` is another place
/// in tests.
AccessFacts access_facts(std::int32_t pid, const std::string& proc = "/proc");

/// Whether the number could have been meant as a file's name.
enum class MayBeFile : std::uint8_t { no, yes };

/// Nothing if its memory may be read and it can be stopped. Else the one line that says which of the
/// reasons it is, with what would help; `arguments` are those of the command to try again ("1234 types"). Exit 1: "no-such-process",
/// "zombie", "first-thread-ended", "kernel-thread", "not-permitted", "frozen"; 2: "a-thread" (of a process, which is named).
std::optional<Error> why_no_access(const AccessFacts& facts, const std::string& arguments,
                                   MayBeFile may_be_file = MayBeFile::yes);

/// "process 1234 (python3)".
std::string process_words(const ProcessFacts& process);

/// "www-data (uid 33)", by /etc/passwd; else "uid 33".
std::string user_words(std::uint32_t user);

}  // namespace heapsift
