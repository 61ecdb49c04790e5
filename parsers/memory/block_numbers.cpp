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
      apart_near_(granules),
      others_(std::move(others)),
      near_(granules) {
    std::uint64_t count = 0;
    const auto visit_granules = [&](const AddressRange& range, auto&& visit) {
        const std::uint64_t mib = (range.end.value >> 20) - (range.start.value >> 20) + 1;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(mib, granules); ++i)
            visit(granule(range.start + (i << 20)));
    };
    const auto note = [&](const AddressRange& range, Near what) {
        visit_granules(range, [&](std::size_t at) { near_[at] |= what; });
    };
    for (std::size_t i = 0; i < heaps.heaps().size(); ++i) {
        note(heaps.heaps()[i].range, near_heap);
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
    for (const AddressRange& other : others_) note(other, near_other);
    if (count >= std::numeric_limits<std::uint32_t>::max())
        throw Error(ExitCode::cannot_analyse, "too-large", "malloc has more blocks than can be numbered");
    size_ = static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < apart_.size(); ++i)
        visit_granules(apart_[i], [&](std::size_t at) {
            near_[at] |= near_apart;
            apart_near_[at].add(i);
        });
    if (!others_.empty()) note_other_pages();
}

void BlockNumbers::note_other_pages() {
    const auto visit_pages = [&](auto&& visit) {
        for (std::size_t i = 0; i < others_.size(); ++i)
            for (Address at = others_[i].start.rounded_down(4096); at < others_[i].end; at = at + 4096)
                visit(page(at), i);
    };
    other_pages_.resize(pages / 64);
    visit_pages([&](std::size_t at, std::size_t) { other_pages_[at / 64] |= std::uint64_t{1} << at % 64; });
    std::uint32_t before = 0;
    for (const std::uint64_t word : other_pages_) {
        other_pages_before_.push_back(before);
        before += static_cast<std::uint32_t>(std::popcount(word));
    }
    others_of_page_.resize(before);
    visit_pages([&](std::size_t at, std::size_t i) { others_of_page_[*number_of_other_page(at)].add(i); });
    other_units_.resize(before);
    for (const AddressRange& other : others_)
        for (Address at = other.start.rounded_down(16); at < other.end; at = at + 16)
            other_units_[*number_of_other_page(page(at))][unit(at) / 64] |= std::uint64_t{1} << unit(at) % 64;
}

std::optional<std::uint32_t> BlockNumbers::number_of_other_page(std::size_t page) const {
    const std::uint64_t word = other_pages_[page / 64], bit = std::uint64_t{1} << page % 64;
    if ((word & bit) == 0) return std::nullopt;
    return other_pages_before_[page / 64] + static_cast<std::uint32_t>(std::popcount(word & (bit - 1)));
}

void BlockNumbers::Some::add(std::size_t index) {
    first = std::min(first, static_cast<std::uint32_t>(index));
    end = static_cast<std::uint32_t>(index + 1);
}

std::optional<std::uint32_t> BlockNumbers::Some::find(const std::vector<AddressRange>& blocks,
                                                      Address address) const {
    if (end == 0) return std::nullopt;
    const auto from = blocks.begin() + first;
    const auto above = std::upper_bound(from, blocks.begin() + end, address,
                                        [](Address a, const AddressRange& r) { return a < r.start; });
    if (above == from || !(above - 1)->contains(address)) return std::nullopt;
    return static_cast<std::uint32_t>(above - 1 - blocks.begin());
}

std::optional<BlockNumbers::Block> BlockNumbers::find_near(Address address,
                                                           const MallocHeaps::Heap*& last) const {
    const std::uint8_t near = near_[granule(address)];
    if ((near & near_heap) != 0 && (!last || !last->range.contains(address)))
        if (const MallocHeaps::Heap* heap = heaps_.heap_at(address)) last = heap;
    if (last && last->range.contains(address)) {
        const auto start = heaps_.last_in_use(*last, address);
        if (!start) return std::nullopt;
        const std::uint64_t offset = *start - last->range.start, size = usable(*last, offset);
        if (address - *start >= size) return std::nullopt;
        const auto index = static_cast<std::size_t>(last - heaps_.heaps().data());
        const std::uint64_t slot = offset / 16;
        const std::uint64_t below =
            heaps_.in_use_bits(index)[slot / 64] & ((std::uint64_t{1} << (slot % 64)) - 1);
        return Block{before_[index][slot / 64] + static_cast<std::uint32_t>(std::popcount(below)), *start,
                     size};
    }
    const auto block = [](const std::vector<AddressRange>& blocks, std::uint32_t index, std::uint32_t from) {
        return Block{from + index, blocks[index].start, blocks[index].size()};
    };
    if ((near & near_other) != 0)
        if (const auto at = number_of_other_page(page(address));
            at && (other_units_[*at][unit(address) / 64] >> unit(address) % 64 & 1) != 0)
            if (const auto index = others_of_page_[*at].find(others_, address))
                return block(others_, *index, others_from_);
    if ((near & near_apart) != 0)  // those of its MiB, and of others that share its place in the table
        if (const auto index = apart_near_[granule(address)].find(apart_, address))
            return block(apart_, *index, apart_from_);
    return std::nullopt;
}

}  // namespace heapsift
