#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_waste(CommandOptions& declare);
/// What stands first in its help.
std::string waste_examples();

}  // namespace heapsift
