#pragma once

// One block of C code, for `show` and `why`.

#include "analysis/native_block.h"
#include "cli/document/document.h"

#include <string>

namespace heapsift {

Document render_native_block(const NativeBlock& block, const std::string& command);

}  // namespace heapsift
