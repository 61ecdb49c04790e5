#pragma once

// Words of objects, and of what they own, that lead into memory of malloc or of C code's blocks. To read and look up all of
// them takes the longest, and is done by pieces of the heap; what they mean is for one thread to say, in their order.

#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/native_words.h"

#include <functional>
#include <optional>

namespace heapsift {

struct WordOfObject {
    ObjectId object;
    Address at, to;  // where it lies, and what it is
    std::optional<BlockNumbers::Block>
        target;  // the block in use that holds `to`; none: `to` is in one of malloc's heaps
};

/// visit(word) for each, by object, one at a time, though not always on the same thread. Cost: 3 to 15 ns a word, shared
/// among the threads.
void visit_words_of_objects(const CoreFile& core, const FoundObjects& objects, const NativeWords& words,
                            const BlockNumbers& numbers, const MallocHeaps& heaps,
                            const std::function<void(const WordOfObject&)>& visit);

}  // namespace heapsift
