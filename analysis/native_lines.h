#pragma once

// Which of the blocks that tracemalloc traced are C code's own: no object, and no object's buffer.

#include "parsers/cpython/tracemalloc.h"
#include "parsers/reading/heap_reader.h"

namespace heapsift {

/// Leaves the traced blocks that `native` counts too, of Python's domain: what C code asked of Python's allocators and
/// these of malloc. (What C code asks of malloc itself is not traced.) `unread` and the sums become those of these blocks.
/// `heap` has native blocks. Cost: both are sorted.
void keep_native_blocks(const HeapReader& heap, TracedMemory& traced);

}  // namespace heapsift
