#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_lines(CommandOptions& declare);

}  // namespace heapsift
