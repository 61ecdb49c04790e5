#pragma once

// heapsift export: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_export(CommandOptions& declare);

/// What --help says below the options.
std::string export_details();

}  // namespace heapsift
