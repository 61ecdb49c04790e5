#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_cycles(CLI::App& app);

}  // namespace heapsift
