#pragma once

// heapsift batch: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_batch(CommandOptions& declare);

/// The text of --help below the options.
std::string batch_details();

}  // namespace heapsift
