#pragma once

// The dumped process: its name, and how it ended.

#include "analysis/program_facts.h"
#include "cli/document/datum.h"
#include "parsers/elf/core_file.h"

#include <string>

namespace heapsift {

/// "killed by SIGSEGV (11): address not mapped, at 0x10", "alive when dumped (gcore)".
std::string how_it_ended(const ProcessInfo& process);

/// "SIGSEGV (11): address not mapped at 0x10".
std::string signal_words(const ProcessInfo& process);

/// "SIGSEGV"; "signal 77" if it has no name.
std::string signal_name(int signal);

Datum process_data(const ProcessInfo& process, std::size_t threads);

/// "2026-11-28T02:52:47Z", of seconds since 1970.
std::string utc_text(double seconds);

/// {"host", "container", "started", "packages": {name: version}}
Datum program_data(const ProgramFacts& facts);

}  // namespace heapsift
