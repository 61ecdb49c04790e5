#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_holders(CommandOptions& declare);

}  // namespace heapsift
