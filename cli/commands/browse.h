#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_browse(CommandOptions& declare);

}  // namespace heapsift
