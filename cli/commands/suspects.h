#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_suspects(CommandOptions& declare);

}  // namespace heapsift
