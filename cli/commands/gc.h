#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_gc(CommandOptions& declare);

}  // namespace heapsift
