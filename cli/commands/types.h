#pragma once

// heapsift types: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_types(CommandOptions& declare);

}  // namespace heapsift
