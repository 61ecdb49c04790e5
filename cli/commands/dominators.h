#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_dominators(CLI::App& app);

}  // namespace heapsift
