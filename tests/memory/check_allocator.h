#pragma once

// What must hold of every allocator (parsers/memory/allocator.h), whatever bytes it was read from.

#include "parsers/memory/allocator.h"

#include "tests/catch.h"

#include <vector>

namespace heapsift::test {

/// Checks that ranges are sorted and apart, that blocks are in order, apart and each in one range, and that any
/// byte of a block leads to it. Returns the blocks.
inline std::vector<MemoryBlock> check_allocator(const Allocator& allocator) {
    const std::vector<AddressRange> ranges = allocator.ranges();
    for (std::size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i - 1].end <= ranges[i].start);
    std::vector<MemoryBlock> blocks;
    allocator.visit_blocks(
        [&](std::span<const MemoryBlock> some) { blocks.insert(blocks.end(), some.begin(), some.end()); });
    Address end;
    auto range = ranges.begin();
    for (const MemoryBlock& block : blocks) {
        CHECK(block.start >= end);
        end = block.range().end;
        while (range != ranges.end() && range->end <= block.start) ++range;
        REQUIRE(range != ranges.end());
        CHECK((range->start <= block.start && end <= range->end));
        for (const Address at : {block.start, block.start + block.bytes / 2, end - 1}) {
            const auto found = allocator.block_at(at);
            REQUIRE(found);
            CHECK((found->start == block.start && found->bytes == block.bytes &&
                   found->in_use == block.in_use));
        }
    }
    return blocks;
}

inline std::uint64_t blocks_in_use(const Allocator& allocator) {
    std::uint64_t count = 0;
    for (const MemoryBlock& block : check_allocator(allocator)) count += block.in_use;
    return count;
}

}  // namespace heapsift::test
