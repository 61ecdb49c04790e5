#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_holders(CommandOptions& declare);
/// What stands first in its help.
std::string holders_examples();

}  // namespace heapsift
