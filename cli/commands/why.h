#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_why(CommandOptions& declare);

}  // namespace heapsift
