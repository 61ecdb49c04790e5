#pragma once

// What a core says of its process: threads, mapped files, modules. Plain values, shared by the code that
// reads them and the code that uses them.

#include "parsers/base/address.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

/// A thread of NT_PRSTATUS, in the order of the notes (the first is the one that took the signal).
struct CoreThread {
    std::int32_t tid = 0;
    std::int32_t current_signal = 0;
    std::array<std::uint64_t, 27> registers{};  // struct user_regs_struct of x86-64
    std::uint64_t fs_base() const { return registers[21]; }
    std::uint64_t instruction_pointer() const { return registers[16]; }
    std::uint64_t stack_pointer() const { return registers[19]; }
};

/// One row of NT_FILE.
struct MappedFile {
    AddressRange range;
    std::uint64_t file_offset = 0;  // bytes
    std::string path;               // as in the core: not trusted, not escaped
};

enum class ModuleFileState : std::uint8_t {
    found,       // a file with an equal build-id; its bytes are used
    unverified,  // a file is there, but one side has no build-id to compare; never used
    mismatch,    // a file is there, with another build-id; not used
    missing,     // no file there
    not_needed   // the vDSO and the like
};

/// An ELF image that was mapped: one executable or shared object.
struct Module {
    std::string path;   // from NT_FILE, "(deleted)" stripped; not trusted, not escaped
    Address start;      // lowest mapped address
    Address end;        // highest mapped address of the file's own mappings (its .bss may follow)
    Address image_end;  // end of the loaded image by its program headers, .bss included, on a page; `end` if
                        // unknown
    std::uint64_t load_bias = 0;  // runtime address minus the file's virtual address
    std::string build_id;         // lower-case hex, empty where it was not found in the core
    bool is_executable = false;   // the program itself, by AT_PHDR / AT_ENTRY, else the first of NT_FILE
    ModuleFileState file_state = ModuleFileState::missing;
    std::string file;  // path on this machine that was accepted or looked at; empty if none
};

inline constexpr std::size_t most_runtimes = 1000;

/// Where to look for module files on this machine. A file is only accepted if its build-id is equal.
struct FileSearch {
    std::string executable;  // the interpreter's binary, wherever it is; empty if not given
    std::string sysroot;     // prefix for the paths in the core; empty if not given
    std::string debug_dir;   // searched by build-id (.build-id/xx/yyy.debug and, recursively, any ELF file);
                             // empty if not given
    /// Of a process that lives, /proc/PID/map_files: it has its files, though they were deleted; empty for a dead one.
    std::string map_files = {};
    /// Of several CPython runtimes in the process: which, from 1 on; nothing where nobody said. No file's matter, but
    /// like those above it is what is said of a core once, and then remembered with it.
    std::optional<std::size_t> runtime = {};
};

/// When and how `heapsift capture` took the core, by the note that it writes. Like all of a core it is not trusted, but
/// its numbers are in these ranges, and its text is escaped.
struct CaptureFacts {
    std::string version;                  // of heapsift, at most 31 characters
    std::uint64_t seconds = 0;            // since 1970, when the process stood; before the year 10000
    std::uint64_t stood_nanoseconds = 0;  // how long it stood
    bool by_fork = false;                 // of a copy that a fork made
    std::uint64_t changed_pages = 0;      // between the copying and the stop
};

struct ProcessInfo {
    std::int32_t pid = 0;
    std::string name;       // pr_fname, at most 15 bytes; not escaped
    std::string arguments;  // pr_psargs, at most 79 bytes; not escaped
    std::optional<std::int32_t>
        signal;  // of NT_SIGINFO, else of the first thread; 0 or absent: taken while alive
    std::optional<std::int32_t> signal_code;  // si_code
    std::optional<Address> fault_address;     // for SIGSEGV, SIGBUS, SIGILL, SIGFPE
    bool from_gcore = false;                  // the core has section headers, as gdb's writer makes them
    std::optional<CaptureFacts> captured;     // it was taken by heapsift
};

/// Whether the process lived when the core was taken. gcore stops a process with ptrace and records the
/// signal that this shows (none, SIGSTOP, SIGTRAP, SIGINT): these signals say nothing about the process.
inline bool was_alive(const ProcessInfo& process) {
    const int signal = process.signal.value_or(0);
    return signal == 0 || (process.from_gcore &&
                           (signal == SIGSTOP || signal == SIGTRAP || signal == SIGINT || signal == SIGCONT));
}

/// How much of the core is there.
struct CoreExtent {
    std::uint64_t file_bytes = 0;      // size of the file
    std::uint64_t promised_bytes = 0;  // the end of the last byte that the headers promise
    std::uint64_t cut_bytes = 0;       // bytes of segments that the headers promise and the file lacks
    std::uint64_t mapped_bytes = 0;    // memory that the program headers and NT_FILE name, saved or not
    std::uint64_t in_core_bytes = 0;   // memory whose bytes are in the file
    std::uint64_t segment_count = 0;   // PT_LOAD headers
    bool cut() const { return cut_bytes > 0; }
};

}  // namespace heapsift
