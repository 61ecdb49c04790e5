#pragma once

// --sort KEY, of the commands that sort.

#include "analysis/types.h"

#include <string>

namespace heapsift {

class CommandOptions;

/// Declares --sort; `sort` holds the default, and must live until the options are parsed.
void add_sort_option(CommandOptions& declare, SortKey& sort);

/// "memory", "array_data", …: what is typed after --sort.
std::string name_of(SortKey sort);

}  // namespace heapsift
