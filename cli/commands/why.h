#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_why(CLI::App& app);

}  // namespace heapsift
