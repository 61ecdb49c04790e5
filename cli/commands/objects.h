#pragma once

// heapsift objects: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_objects(CommandOptions& declare);

}  // namespace heapsift
