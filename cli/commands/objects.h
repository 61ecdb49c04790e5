#pragma once

// heapsift objects: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_objects(CLI::App& app);

}  // namespace heapsift
