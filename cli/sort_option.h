#pragma once

// --sort KEY, for the commands that sort.

#include "analysis/types.h"

#include <optional>
#include <string>

namespace heapsift {

class CommandOptions;

/// Declares --sort; `default_is` says in the help what happens without it. `sort` stays empty then, and must
/// live until the options are parsed.
void add_sort_option(CommandOptions& declare, std::optional<SortKey>& sort, const std::string& default_is);

/// The word after --sort: "memory", "array_data", ….
std::string name_of(SortKey sort);

}  // namespace heapsift
