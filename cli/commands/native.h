#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_native(CommandOptions& declare);

}  // namespace heapsift
