#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_refcounts(CLI::App& app);

}  // namespace heapsift
