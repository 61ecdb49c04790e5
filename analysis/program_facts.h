#pragma once

// Which process it was, beyond what the core's notes say: its host, its container, when it began, and the versions of
// the packages that it had imported.
//
// None of it is written into a core as such. The environment with which the program was started still lies above its
// first stack frame (Linux, fs/binfmt_elf.c, create_elf_tables: arguments, environment, and then the path that AT_EXECFN
// names), unless the program wrote over it; a container's name is HOSTNAME there. `logging` keeps the time at which it
// was imported. Packages say their version in `__version__`, by a custom as old as PEP 396.

#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct ProgramFacts {
    std::string host;  // HOSTNAME; "" if it was not set. Not escaped
    std::string
        container;  // "kubernetes", or the variable `container` as podman and systemd-nspawn set it; "" if none
    // Seconds since 1970; when `logging` was imported: the process began before it, most often by less than a second
    std::optional<double> started;
    // Name and version of imported packages that are not Python's own, by name. A version has only letters, digits and
    // .+!-_, at most 64. Of a package in a file that is no part of an installed one, the program's own, the same.
    std::vector<std::pair<std::string, std::string>> packages;
};

/// For a heap with roots. Cost: some microseconds for each module.
ProgramFacts program_facts(const HeapReader& heap);

/// Variables that lie right below `end` in memory, each ended by a 0, from the last one down: at most `limit` bytes of
/// them. Ends at what is no variable. Not escaped.
std::vector<std::pair<std::string, std::string>> variables_below(const AddressSpace& memory, Address end,
                                                                 std::size_t limit = 256 << 10);

}  // namespace heapsift
