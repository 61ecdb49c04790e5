#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_cycles(CommandOptions& declare);

}  // namespace heapsift
