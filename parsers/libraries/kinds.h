#pragma once

// Kinds of libraries' objects, for the list in parsers/snapshot/object_kinds.cpp.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

extern const ObjectKind tensor_kind, torch_storage_kind, greenlet_kind;

}  // namespace heapsift
