#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_arrays(CommandOptions& declare);

}  // namespace heapsift
