#pragma once

// heapsift batch: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_batch(CommandOptions& declare);

/// What --help says below the options.
std::string batch_details();

}  // namespace heapsift
