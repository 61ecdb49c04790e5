#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_dominators(CommandOptions& declare);

}  // namespace heapsift
