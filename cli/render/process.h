#pragma once

// The dumped process, in text and JSON: its name, and how it ended.

#include "cli/json.h"
#include "cli/redact.h"
#include "parsers/elf/core_file.h"

#include <string>

namespace heapsift {

/// "killed by SIGSEGV (11): address not mapped, at 0x10", "alive when dumped (gcore)".
std::string how_it_ended(const ProcessInfo& process);

/// "SIGSEGV"; "signal 77" for one without a name.
std::string signal_name(int signal);

Json process_json(const ProcessInfo& process, std::size_t threads, Redactor& redactor);

/// "gunicorn: worker [shop]": its arguments, else its name; escaped.
std::string command_text(const ProcessInfo& process, Redactor& redactor);

}  // namespace heapsift
