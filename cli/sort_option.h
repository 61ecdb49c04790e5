#pragma once

// --sort KEY, of the commands that sort.

#include "analysis/types.h"

#include <string>

namespace CLI {
class App;
}

namespace heapsift {

/// Declares --sort on `app`; `sort` holds the default, and must live until `app` parses.
void add_sort_option(CLI::App& app, SortKey& sort);

/// "memory", "array_data", …: what is typed after --sort.
std::string name_of(SortKey sort);

}  // namespace heapsift
