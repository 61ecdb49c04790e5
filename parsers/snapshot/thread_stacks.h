#pragma once

// Which memory is a thread's stack. (How: thread_stacks.cpp.)

#include "parsers/elf/core_file.h"
#include "parsers/snapshot/allocations.h"

#include <vector>

namespace heapsift {

/// The stacks of all threads, sorted, as far as they are mapped. If a program has put a stack on its heap,
/// only that block is in it.
std::vector<AddressRange> thread_stacks(const CoreFile& core, const Allocations& allocations);
/// Of such a stack, the part that is in use: from a thread's stack pointer on, if one is on this stack.
AddressRange live_part(const CoreFile& core, const AddressRange& stack);

}  // namespace heapsift
