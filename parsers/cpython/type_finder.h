#pragma once

// Finds every type of the interpreter. (type_finder.cpp says how.)

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// All types in the saved memory, with the sizes of their headers, their kinds, and names as far as files,
/// dictionaries and tables give them. Cost: two or three sweeps over writable memory. `modules`: those of the
/// core, to find names by build-id if a file is missing. `pools`: where pymalloc's blocks are, sorted;
/// skipped, since no type is as small as its largest block. `known`: where they all are, by address, as an
/// earlier call found them; if one of these does not read as a type, they are found anew. Then there is no
/// sweep.
TypeTable find_types(const AddressSpace& memory, const PythonRuntime& python,
                     std::span<const ObjectKind* const> kinds, std::span<const Module> modules = {},
                     std::span<const AddressRange> pools = {}, std::span<const Address> known = {});

}  // namespace heapsift
