#pragma once

// heapsift referrers: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_referrers(CLI::App& app);

}  // namespace heapsift
