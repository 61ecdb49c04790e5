// `show` looks for one block in tracemalloc's tables as they lie; a list of objects has thousands. So the blocks are
// sorted once, 24 bytes each, and searched.

#include "analysis/traced_lines.h"

#include <algorithm>
#include <utility>

namespace heapsift {

void keep_python_blocks(std::vector<TracedBlock>& blocks) {
    std::erase_if(blocks, [](const TracedBlock& block) { return block.domain != 0; });
    std::sort(blocks.begin(), blocks.end(),
              [](const TracedBlock& a, const TracedBlock& b) { return a.start < b.start; });
}

TracedLines::TracedLines(TracedMemory traced) : traced_(std::move(traced)) {
    keep_python_blocks(traced_.blocks);
}

std::optional<SourceLine> TracedLines::line_of(const TracedBlock& block) const {
    const std::vector<SourceLine> calls = source_lines(traced_, block.traceback, 1);
    if (calls.empty()) return std::nullopt;
    return calls.front();
}

std::optional<SourceLine> TracedLines::line_at(Address address) const {
    const auto after =
        std::upper_bound(traced_.blocks.begin(), traced_.blocks.end(), address,
                         [](Address one, const TracedBlock& block) { return one < block.start; });
    if (after == traced_.blocks.begin()) return std::nullopt;
    const TracedBlock& block = *std::prev(after);
    if (address - block.start >= block.size) return std::nullopt;
    return line_of(block);
}

std::optional<SourceLine> TracedLines::line_in(const AddressRange& range) const {
    const auto first =
        std::lower_bound(traced_.blocks.begin(), traced_.blocks.end(), range.start,
                         [](const TracedBlock& block, Address one) { return block.start < one; });
    if (first == traced_.blocks.end() || !range.contains(first->start)) return std::nullopt;
    return line_of(*first);
}

}  // namespace heapsift
