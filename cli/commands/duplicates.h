#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_duplicates(CommandOptions& declare);

}  // namespace heapsift
