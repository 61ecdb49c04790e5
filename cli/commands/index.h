#pragma once

// heapsift index: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_index(CommandOptions& declare);

}  // namespace heapsift
