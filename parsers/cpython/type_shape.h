#pragma once

// What a static type looks like from its own words, without its name. (Why and how: type_shape.cpp.)

#include "parsers/cpython/python_heap.h"

#include <cstdint>

namespace heapsift {

/// A number for the sizes, flags, filled slots and dictionary keys of the type object at `type`: the same in
/// every process and on every machine that runs a build with this type, whatever the addresses. Ready or not
/// makes a difference. 0 where the object cannot be read. Cost: the type's dictionary, once.
std::uint64_t type_shape(const PythonHeap& heap, Address type);

}  // namespace heapsift
