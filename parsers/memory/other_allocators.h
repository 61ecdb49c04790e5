#pragma once

// Allocators that a program uses instead of malloc, or beside it.

#include "parsers/base/diagnostics.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/allocator.h"

#include <memory>
#include <vector>

namespace heapsift {

/// mimalloc and gperftools' tcmalloc, where the core's bytes prove them, whatever the modules are called. Reports what
/// of them does not add up. Cost where there are none: a look at few places, and at the modules' data.
std::vector<std::unique_ptr<const Allocator>> find_other_allocators(const CoreFile& core,
                                                                    Diagnostics& diagnostics);

}  // namespace heapsift
