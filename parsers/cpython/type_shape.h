#pragma once

// The shape of a static type: what its words look like, apart from its name. (type_shape.cpp says why and
// how.)

#include "parsers/cpython/python_heap.h"

#include <cstdint>

namespace heapsift {

/// A number for the sizes, flags, filled slots and dictionary keys of the type object at `type`. It is the
/// same in every process and on every machine that runs a build with this type, whatever the addresses, but
/// differs between a type that is ready and one that is not. 0 if the object cannot be read. Cost: the type's
/// dictionary, once.
std::uint64_t type_shape(const PythonHeap& heap, Address type);

}  // namespace heapsift
