#pragma once

// heapsift referents: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_referents(CommandOptions& declare);

}  // namespace heapsift
