#pragma once

// Finds every type of the interpreter. (How: type_finder.cpp.)

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// All types in the saved memory, named as far as files, dictionaries and tables go, with sizes of headers
/// and kinds. Cost: two or three sweeps over writable memory. `modules`: of the core, for names by build-id
/// where a file is not at hand. `pools`: where pymalloc's blocks are, sorted; left out, for no type is as
/// small as its largest block.
TypeTable find_types(const AddressSpace& memory, const PythonRuntime& python,
                     std::span<const ObjectKind* const> kinds, std::span<const Module> modules = {},
                     std::span<const AddressRange> pools = {});

}  // namespace heapsift
