#pragma once

// Debug information that is spread over two files. (Why and how: shared_entries.cpp.)

#include <string>

#include "parsers/dwarf/struct_search.h"

namespace heapsift {

/// Searches the file at `path`, and the one that its .gnu_debugaltlink names, with libdw. Returns what went
/// wrong, or nothing.
std::string search_with_shared_entries(const std::string& path, struct_search::Search& search);

}  // namespace heapsift
