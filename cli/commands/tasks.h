#pragma once

// heapsift tasks: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_tasks(CommandOptions& declare);

}  // namespace heapsift
