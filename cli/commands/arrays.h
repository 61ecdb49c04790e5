#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_arrays(CLI::App& app);

}  // namespace heapsift
