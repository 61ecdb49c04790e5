#pragma once

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_diff(CommandOptions& declare);
std::string diff_details();

}  // namespace heapsift
