#pragma once

// The collector's list of garbage, in an interpreter whose collector has static variables without symbols (2.7 and 3.6,
// stripped). gc.garbage is that list, and a variable of the interpreter's module leads to it. (gcmodule.c)

#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"

namespace heapsift {

/// Puts the variable into the layout of `python`, which `heap` refers to. Nothing happens if the layout has it, or if
/// the module gc was never imported. Cost: the module's variables.
void find_garbage_variable(const CoreFile& core, const PythonHeap& heap, PythonRuntime& python);

}  // namespace heapsift
