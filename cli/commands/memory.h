#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_memory(CommandOptions& declare);

}  // namespace heapsift
