// Memory that malloc hands out from its heaps may be pages that nobody has touched: an image that is still empty, a
// codec's window. The kernel counts none of them in the process's RSS, and its core has holes there. gdb's has zeros,
// which may as well have been written. As the block was handed out they count as in use (but for blocks with a mapping
// of their own: untouched_memory.cpp); a reader who compares that with what the kernel said has to know by how much it
// may be too much.

#include "parsers/snapshot/zeros_in_use.h"

#include "parsers/snapshot/range_cursor.h"
#include "parsers/snapshot/untouched_memory.h"

namespace heapsift {

std::uint64_t zeros_in_use(const CoreFile& core, const std::vector<MappingRow>& mappings) {
    const UntouchedMemory untouched = untouched_memory(core);
    RangeCursor zeros(untouched.zeros);
    std::uint64_t bytes = 0;
    for (const MappingRow& mapping : mappings) {
        const std::uint64_t all = zeros.bytes_in(mapping.range);
        const std::uint64_t not_counted = mapping.shares[MemoryOwner::zeros] +
                                          mapping.shares[MemoryOwner::zero_blocks] +
                                          mapping.shares[MemoryOwner::reserved];
        if (all > not_counted) bytes += all - not_counted;
    }
    return bytes;
}

}  // namespace heapsift
