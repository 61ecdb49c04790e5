#pragma once

// heapsift overview: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_overview(CLI::App& app);

}  // namespace heapsift
