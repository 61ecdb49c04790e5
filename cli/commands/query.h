#pragma once

// heapsift query: its options.

#include "cli/command.h"

#include <string>

namespace heapsift {

CommandRunner setup_query(CommandOptions& declare);

/// The text of --help below the options.
std::string query_details();

}  // namespace heapsift
