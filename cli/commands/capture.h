#pragma once

// heapsift capture: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_capture(CommandOptions& declare);

/// The texts of --help above and below the options.
std::string capture_details();

}  // namespace heapsift
