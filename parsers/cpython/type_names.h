#pragma once

// Names for static types whose tp_name cannot be read because it lies in a missing file.

#include "parsers/cpython/python_heap.h"

#include <span>
#include <vector>

namespace heapsift {

/// Names the types that are not `named`, as far as anything in the core allows, and sets their `named`. Cost:
/// the dictionaries of the modules in sys.modules, once.
void name_without_files(std::span<const Module> modules, const PythonHeap& heap,
                        std::vector<TypeInfo>& types);

}  // namespace heapsift
