#include "parsers/snapshot/block_rows.h"

#include "parsers/snapshot/block_groups.h"

namespace heapsift {

NativeBlocks block_rows(const CoreFile& core, const BlockNumbers& numbers,
                        const std::vector<std::uint32_t>& labels, const std::vector<WayToBlocks>& ways) {
    NativeBlocks result;
    BlockGroups groups(core);
    CompactColumn<std::uint16_t>::Builder row_of;
    row_of.reserve(numbers.first_other());
    numbers.visit([&](const BlockNumbers::Block& block) {
        if (block.number >= numbers.first_other()) return;
        if (labels[block.number] == owned_block) return row_of.push_back(0);
        ++result.count;
        row_of.push_back(1 + groups.add({block.start, block.bytes, true}, labels[block.number]));
    });
    result.row_of = row_of.finish();
    for (const BlockGroup& group : groups.take()) {
        const WayToBlocks way = group.label == not_reached ? WayToBlocks() : ways[group.label];
        result.rows.push_back(
            {group.size, group.table, way.word, group.count, group.example, way.from, way.type});
    }
    return result;
}

}  // namespace heapsift
