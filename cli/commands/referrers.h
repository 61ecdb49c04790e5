#pragma once

// heapsift referrers: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_referrers(CommandOptions& declare);

}  // namespace heapsift
