#pragma once

// Finds every type of the interpreter. (How: type_finder.cpp.)

#include "parsers/base/diagnostics.h"
#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// All ready types in the saved memory, named, with sizes of headers and kinds. Cost: two or three sweeps over writable memory.
TypeTable find_types(const AddressSpace& memory, const PythonRuntime& python, std::span<const ObjectKind* const> kinds,
                     Diagnostics& diagnostics);

}  // namespace heapsift
