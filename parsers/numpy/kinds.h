#pragma once

// NumPy's kinds, for the list in parsers/snapshot/object_kinds.cpp.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

extern const ObjectKind ndarray_kind, numpy_scalar_kind, numpy_void_kind, numpy_dtype_kind;

}  // namespace heapsift
