#pragma once

// heapsift show: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_show(CommandOptions& declare);

}  // namespace heapsift
