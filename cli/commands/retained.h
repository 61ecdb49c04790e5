#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_retained(CommandOptions& declare);

}  // namespace heapsift
