#pragma once

// Which memory is a thread's stack. (How: thread_stacks.cpp.)

#include "parsers/elf/core_file.h"
#include "parsers/memory/malloc_heaps.h"

#include <vector>

namespace heapsift {

/// The stacks of all threads, sorted, as far as they are mapped; a stack that a program has on its heap is
/// its block alone.
std::vector<AddressRange> thread_stacks(const CoreFile& core, const MallocHeaps& heaps);

}  // namespace heapsift
