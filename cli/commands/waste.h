#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_waste(CommandOptions& declare);

}  // namespace heapsift
