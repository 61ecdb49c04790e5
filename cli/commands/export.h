#pragma once

// heapsift export: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_export(CommandOptions& declare);

/// What --help says below the options.
extern const char* const export_details;

}  // namespace heapsift
