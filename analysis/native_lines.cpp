// Both kinds of blocks are sorted and walked side by side. A block of malloc may begin before the address that was
// asked for (PYTHONMALLOC=debug puts numbers before it), so a traced block is C code's if it begins inside one.

#include "analysis/native_lines.h"

#include <algorithm>
#include <vector>

namespace heapsift {

void keep_native_blocks(const HeapReader& heap, TracedMemory& traced) {
    const auto& rows = heap.snapshot().native->rows;
    std::vector<AddressRange> native;
    heap.visit_native_blocks([&](Address start, std::uint32_t row) {
        native.push_back({start, start + rows[row].size});
    });
    std::sort(native.begin(), native.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    std::sort(traced.blocks.begin(), traced.blocks.end(), [](const TracedBlock& a, const TracedBlock& b) {
        return a.start != b.start ? a.start < b.start : a.domain < b.domain;
    });
    std::size_t next = 0;
    std::erase_if(traced.blocks, [&](const TracedBlock& block) {
        while (next < native.size() && native[next].start <= block.start) ++next;
        const bool inside = next > 0 && native[next - 1].contains(block.start);
        return block.domain != 0 || !inside;
    });
    traced.bytes = 0;
    for (const TracedBlock& block : traced.blocks) traced.bytes += block.size;
    traced.counted_bytes.reset();
    traced.unread = 0;
}

}  // namespace heapsift
