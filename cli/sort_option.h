#pragma once

// --sort KEY, for the commands that sort.

#include "analysis/types.h"

#include <string>

namespace heapsift {

class CommandOptions;

/// Declares --sort. `sort` holds the default and must live until the options are parsed.
void add_sort_option(CommandOptions& declare, SortKey& sort);

/// The word after --sort: "memory", "array_data", ….
std::string name_of(SortKey sort);

}  // namespace heapsift
