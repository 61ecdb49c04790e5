#pragma once

// Facts to learn from a heap before its dicts and tuples can be read as their traverse reads them.

#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

#include <vector>

namespace heapsift {

/// The dicts in which interpreters keep their interned strings: at most one per interpreter, none if it is
/// not found. Cost: reading the words of the interpreter's own state.
std::vector<Address> find_interned_tables(const CoreFile& core, const PythonHeap& heap);

/// The dk_lookup of a dict that has a key other than a str (up to 3.10); null if there is no such dict or no
/// such field. Stops at the first.
Address find_general_lookup(const FoundObjects& objects, const PythonHeap& heap);

/// The tuple of build/quirks.h, property_keeps_arguments; null if it is not found, or the version has none. Cost:
/// reading the words of the interpreter's module.
Address find_kept_arguments(const CoreFile& core, const ObjectAccess& access);

}  // namespace heapsift
