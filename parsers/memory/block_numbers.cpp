#include "parsers/memory/block_numbers.h"

#include "parsers/base/error.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace heapsift {

BlockNumbers::BlockNumbers(const MallocHeaps& heaps, std::vector<AddressRange> others,
                           std::vector<AddressRange> added)
    : heaps_(heaps),
      apart_(std::move(added)),
      apart_first_(granules, std::numeric_limits<std::uint32_t>::max()),
      apart_end_(granules),
      others_(std::move(others)),
      other_near_(others_.empty() ? 0 : pages),
      near_(granules) {
    std::uint64_t count = 0;
    const auto visit_granules = [&](const AddressRange& range, auto&& visit) {
        const std::uint64_t mib = (range.end.value >> 20) - (range.start.value >> 20) + 1;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(mib, granules); ++i)
            visit(granule(range.start + (i << 20)));
    };
    const auto note = [&](const AddressRange& range) {
        visit_granules(range, [&](std::size_t at) { near_[at] = 1; });
    };
    for (std::size_t i = 0; i < heaps.heaps().size(); ++i) {
        note(heaps.heaps()[i].range);
        std::vector<std::uint32_t>& before = before_.emplace_back();
        for (const std::uint64_t word : heaps.in_use_bits(i)) {
            before.push_back(static_cast<std::uint32_t>(count));
            count += static_cast<std::uint64_t>(std::popcount(word));
        }
    }
    apart_from_ = static_cast<std::uint32_t>(count);
    const auto added_count = static_cast<std::ptrdiff_t>(apart_.size());
    for (const MappedChunk& chunk : heaps.mapped())
        apart_.push_back({chunk.start, chunk.start + chunk.usable});
    std::inplace_merge(apart_.begin(), apart_.begin() + added_count, apart_.end(),
                       [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    count += apart_.size();
    others_from_ = static_cast<std::uint32_t>(count);
    count += others_.size();
    for (const AddressRange& other : others_) {
        note(other);
        for (Address at = other.start.rounded_down(4096); at < other.end; at = at + 4096)
            other_near_[page(at)] = true;
    }
    if (count >= std::numeric_limits<std::uint32_t>::max())
        throw Error(ExitCode::cannot_analyse, "too-large", "malloc has more blocks than can be numbered");
    size_ = static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < apart_.size(); ++i)
        visit_granules(apart_[i], [&](std::size_t at) {
            near_[at] = 1;
            apart_first_[at] = std::min(apart_first_[at], static_cast<std::uint32_t>(i));
            apart_end_[at] = static_cast<std::uint32_t>(i + 1);
        });
}

std::optional<BlockNumbers::Block> BlockNumbers::find_near(Address address) const {
    if (!last_ || !last_->range.contains(address))
        if (const MallocHeaps::Heap* heap = heaps_.heap_at(address)) last_ = heap;
    if (last_ && last_->range.contains(address)) {
        const auto start = heaps_.last_in_use(*last_, address);
        if (!start) return std::nullopt;
        const std::uint64_t offset = *start - last_->range.start, size = usable(*last_, offset);
        if (address - *start >= size) return std::nullopt;
        const auto index = static_cast<std::size_t>(last_ - heaps_.heaps().data());
        const std::uint64_t slot = offset / 16;
        const std::uint64_t below =
            heaps_.in_use_bits(index)[slot / 64] & ((std::uint64_t{1} << (slot % 64)) - 1);
        return Block{before_[index][slot / 64] + static_cast<std::uint32_t>(std::popcount(below)), *start,
                     size};
    }
    if (!others_.empty() && other_near_[page(address)]) {
        const auto above = std::upper_bound(others_.begin(), others_.end(), address,
                                            [](Address a, const AddressRange& r) { return a < r.start; });
        if (above != others_.begin() && (above - 1)->contains(address)) {
            const auto index = static_cast<std::uint32_t>(above - 1 - others_.begin());
            return Block{others_from_ + index, (above - 1)->start, (above - 1)->size()};
        }
    }
    // Those of its MiB, and of others that share its place in the table.
    const std::uint32_t end = apart_end_[granule(address)];
    if (end == 0) return std::nullopt;
    const auto first = apart_.begin() + apart_first_[granule(address)];
    const auto above = std::upper_bound(first, apart_.begin() + end, address,
                                        [](Address a, const AddressRange& r) { return a < r.start; });
    if (above == first || !(above - 1)->contains(address)) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(above - 1 - apart_.begin());
    return Block{apart_from_ + index, (above - 1)->start, (above - 1)->size()};
}

}  // namespace heapsift
