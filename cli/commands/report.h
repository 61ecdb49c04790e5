#pragma once

#include "cli/command.h"

#include <string>

namespace heapsift {

CommandRunner setup_report(CommandOptions& declare);
std::string report_details();

}  // namespace heapsift
