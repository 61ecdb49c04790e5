#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_gc(CLI::App& app);

}  // namespace heapsift
