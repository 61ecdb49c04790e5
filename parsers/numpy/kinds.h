#pragma once

// NumPy's kinds of objects, for the list in parsers/snapshot/object_kinds.cpp.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

extern const ObjectKind ndarray_kind, numpy_scalar_kind, numpy_void_kind, numpy_dtype_kind;

/// Ufuncs, iterators, flags, classes of dtypes.
std::span<const ObjectKind> numpy_internal_kinds();

}  // namespace heapsift
