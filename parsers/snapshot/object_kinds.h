#pragma once

// The list of all object kinds.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

std::span<const ObjectKind* const> all_object_kinds();

}  // namespace heapsift
