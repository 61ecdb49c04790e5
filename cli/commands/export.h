#pragma once

// heapsift export: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_export(CommandOptions& declare);

/// The text of --help below the options.
std::string export_details();

}  // namespace heapsift
