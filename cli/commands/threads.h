#pragma once

// heapsift threads: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_threads(CommandOptions& declare);

}  // namespace heapsift
