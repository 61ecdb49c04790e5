#pragma once

// heapsift referents: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_referents(CLI::App& app);

}  // namespace heapsift
