#pragma once

// What must be learned from a heap before its dicts can be read as traverse reads them.

#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/found_objects.h"

#include <vector>

namespace heapsift {

/// The dicts in which an interpreter keeps its interned strings: at most one each, none where it is not
/// found. Cost: the words of the interpreter's own state.
std::vector<Address> find_interned_tables(const CoreFile& core, const PythonHeap& heap);

/// dk_lookup of a dict with a key that is no str (up to 3.10); null where there is no such dict, or no such
/// field. Stops at the first.
Address find_general_lookup(const FoundObjects& objects, const PythonHeap& heap);

}  // namespace heapsift
