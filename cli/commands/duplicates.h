#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_duplicates(CommandOptions& declare);
/// What stands first in its help.
std::string duplicates_examples();

}  // namespace heapsift
