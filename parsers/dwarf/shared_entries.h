#pragma once

// Debug information spread over two files. (shared_entries.cpp says why and how.)

#include <string>

#include "parsers/dwarf/struct_search.h"

namespace heapsift {

/// Searches with libdw the file at `path` and the one that its .gnu_debugaltlink names. Returns what went
/// wrong, or nothing.
std::string search_with_shared_entries(const std::string& path, struct_search::Search& search);

}  // namespace heapsift
