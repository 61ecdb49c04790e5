#pragma once

// The mappings of a living process, as /proc/PID/maps and smaps list them, and what a core saves of each.

#include "parsers/base/address.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A mapping, with what the kernel's choice for a core depends on.
struct Mapping {
    AddressRange range;
    bool readable = false, writable = false, executable = false;
    std::uint64_t file_offset = 0;  // bytes
    bool of_file = false;           // something with an inode; shared anonymous memory and memfds too
    std::string path;               // as the kernel says it, " (deleted)" included; "[heap]"; may be empty
    // Of smaps; of maps alone only `shared` is known (and then is true of some that the kernel does not count).
    bool shared = false;       // what is written reaches others
    bool dont_dump = false;    // MADV_DONTDUMP
    bool device = false;       // memory of a device: reading it may have effects
    bool huge_pages = false;   // of hugetlbfs
    bool not_in_fork = false;  // MADV_DONTFORK, MADV_WIPEONFORK: a copy by fork lacks it, or has zeros
    bool userfaultfd = false;  // somebody answers its page faults

    /// Of memfd_secret: the kernel itself has no way to it, so nobody reads it from outside.
    bool secret() const { return shared && dont_dump && path == "/secretmem (deleted)"; }
    bool unlinked() const { return path.ends_with(" (deleted)"); }
};

/// The mappings in `text`, of /proc/PID/maps or /proc/PID/smaps, in order of address. Lines that do not read
/// are skipped.
std::vector<Mapping> read_mappings(std::string_view text);

/// Gives mappings of maps the flags that smaps had for the same place before. Returns how many there are that
/// no mapping of `before` covers from their start.
std::size_t take_over_flags(std::vector<Mapping>& mappings, const std::vector<Mapping>& before);

/// The bits of /proc/PID/coredump_filter (core(5)).
struct CoreFilter {
    std::uint64_t bits = 0x33;
    bool full = false;  // --full: all that can be read
    bool has(unsigned bit) const { return (bits >> bit & 1) != 0; }
};

/// How much of a mapping is saved.
enum class Saving : std::uint8_t {
    nothing,
    if_written,  // all of it once a page of it is the process's own; else as `otherwise` says
    first_page,  // if it begins with an ELF header
    whole
};
struct SavingRule {
    Saving saving = Saving::nothing;
    Saving otherwise = Saving::nothing;  // for if_written
};

/// The kernel's rule (fs/coredump.c, vma_dump_size), as far as it can be seen from outside.
SavingRule saving_of(const Mapping& mapping, const CoreFilter& filter);

}  // namespace heapsift
