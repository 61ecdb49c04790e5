#pragma once

// heapsift overview: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_overview(CommandOptions& declare);

}  // namespace heapsift
