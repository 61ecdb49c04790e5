#include "parsers/memory/block_numbers.h"

#include "parsers/base/error.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace heapsift {

BlockNumbers::BlockNumbers(const MallocHeaps& heaps) : heaps_(heaps), near_(granules) {
    std::uint64_t count = 0;
    const auto note = [&](const AddressRange& range) {
        const std::uint64_t mib = (range.end.value >> 20) - (range.start.value >> 20) + 1;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(mib, granules); ++i)
            near_[granule(range.start + (i << 20))] = 1;
    };
    for (std::size_t i = 0; i < heaps.heaps().size(); ++i) {
        note(heaps.heaps()[i].range);
        std::vector<std::uint32_t>& before = before_.emplace_back();
        for (const std::uint64_t word : heaps.in_use_bits(i)) {
            before.push_back(static_cast<std::uint32_t>(count));
            count += static_cast<std::uint64_t>(std::popcount(word));
        }
    }
    mapped_from_ = static_cast<std::uint32_t>(count);
    count += heaps.mapped().size();
    for (const MappedChunk& chunk : heaps.mapped()) note(chunk.pages);
    if (count >= std::numeric_limits<std::uint32_t>::max())
        throw Error(ExitCode::cannot_analyse, "too-large", "malloc has more blocks than can be numbered");
    size_ = static_cast<std::uint32_t>(count);
}

std::optional<BlockNumbers::Block> BlockNumbers::find(Address address) const {
    if (!near_[granule(address)]) return std::nullopt;
    if (const MallocHeaps::Heap* heap = heaps_.heap_at(address)) {
        const auto block = heaps_.block_containing(address);
        if (!block) return std::nullopt;
        const auto index = static_cast<std::size_t>(heap - heaps_.heaps().data());
        const std::uint64_t slot = (block->start - heap->range.start) / 16;
        const std::uint64_t below =
            heaps_.in_use_bits(index)[slot / 64] & ((std::uint64_t{1} << (slot % 64)) - 1);
        return Block{before_[index][slot / 64] + static_cast<std::uint32_t>(std::popcount(below)),
                     block->start, block->usable};
    }
    const std::vector<MappedChunk>& mapped = heaps_.mapped();
    const auto above = std::upper_bound(mapped.begin(), mapped.end(), address,
                                        [](Address a, const MappedChunk& c) { return a < c.start; });
    if (above == mapped.begin() || address - (above - 1)->start >= (above - 1)->usable) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(above - 1 - mapped.begin());
    return Block{mapped_from_ + index, (above - 1)->start, (above - 1)->usable};
}

}  // namespace heapsift
