#include "parsers/snapshot/native_graph.h"

#include <algorithm>

namespace heapsift {

BlockId NativeGraph::find(Address address) const {
    const std::array<std::size_t, 4> ends{0, runs_[0], runs_[1], starts_.size()};
    for (int run = 0; run < 3; ++run) {
        const Address* const first = starts_.begin() + ends[run];
        const Address* const above = std::upper_bound(first, starts_.begin() + ends[run + 1], address);
        if (above == first) continue;
        const BlockId block(above - 1 - starts_.begin());
        if (address - start(block) < bytes(block)) return block;
    }
    return no_block;
}

std::uint64_t NativeGraph::memory_bytes() const {
    return starts_.memory_bytes() + bytes_.memory_bytes() + credits_.memory_bytes() + begin_.memory_bytes() +
           targets_.memory_bytes() + owners_.memory_bytes() + owned_.memory_bytes() +
           entries_.memory_bytes() + held_.memory_bytes();
}

}  // namespace heapsift
