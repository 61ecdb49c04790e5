#pragma once

#include "analysis/native.h"
#include "cli/document/document.h"

namespace heapsift {

/// Blocks of C code, by class and by size.
Document render_native(NativeResult native, bool leaked_only);

}  // namespace heapsift
