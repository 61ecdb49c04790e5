#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_refcounts(CommandOptions& declare);

}  // namespace heapsift
