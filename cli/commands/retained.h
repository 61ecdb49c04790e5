#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_retained(CLI::App& app);

}  // namespace heapsift
