#include "parsers/memory/region_map.h"

// One owner for each byte.
//
// What objects, allocators and mappings say of their sizes does not add up: an array's data lies in a block
// of malloc, which lies in a mapping; a damaged object claims its neighbours. So nothing is summed. Everybody
// claims ranges, and each byte goes to the claimant that comes first in a fixed order (MemoryOwner), the most
// specific before the general. Each owner's claims are sorted and joined into a list without overlaps. Then
// one pass goes through all lists together, from border to border, and gives each stretch to the first owner
// that has it. The stretches make up the mapped memory, so their sum is its size, whatever was claimed.
//
// An allocator has millions of blocks, and a range for each would cost more than the objects' own table. Its
// memory is divided instead: its blocks are counted in one pass, and the map is told how much of the range
// belongs to whom. The headers are what the blocks leave, subtracted from bytes that are known to be mapped.

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace heapsift {

std::uint64_t MemoryShares::sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : bytes_) sum += bytes;
    return sum;
}

void MemoryShares::add(const MemoryShares& more) {
    for (std::size_t i = 0; i < memory_owners; ++i) bytes_[i] += more.bytes_[i];
}

std::uint64_t join_ranges(std::vector<AddressRange>& ranges) {
    const auto before = [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; };
    std::erase_if(ranges, [](const AddressRange& range) { return range.end <= range.start; });
    if (!std::is_sorted(ranges.begin(), ranges.end(), before))
        std::sort(ranges.begin(), ranges.end(), before);
    std::uint64_t overlaps = 0;
    std::size_t kept = 0;
    for (const AddressRange& range : ranges) {
        if (kept > 0 && range.start <= ranges[kept - 1].end) {
            overlaps += range.start < ranges[kept - 1].end ? 1 : 0;
            ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
        } else {
            ranges[kept++] = range;
        }
    }
    ranges.resize(kept);
    return overlaps;
}

RegionMap::RegionMap(std::vector<AddressRange> mapped) : regions_(std::move(mapped)) {
    std::stable_sort(regions_.begin(), regions_.end(),
                     [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    Address end;
    for (AddressRange& region : regions_) {
        region.start = std::max(region.start, end);
        end = std::max(end, region.end);
    }
    std::erase_if(regions_, [](const AddressRange& region) { return region.end <= region.start; });
    mapped_ = regions_;
    join_ranges(mapped_);
    for (const AddressRange& range : mapped_) mapped_bytes_ += range.size();
    divided_of_regions_.resize(regions_.size());
}

std::size_t RegionMap::first_region_in(const AddressRange& range) const {
    const auto at = std::lower_bound(regions_.begin(), regions_.end(), range.start,
                                     [](const AddressRange& r, Address a) { return r.end <= a; });
    return at == regions_.end() || range.end <= at->start ? regions_.size()
                                                          : static_cast<std::size_t>(at - regions_.begin());
}

void RegionMap::claim(MemoryOwner owner, AddressRange range) {
    claims_[static_cast<std::size_t>(owner)].push_back(range);
}

std::uint64_t RegionMap::mapped_bytes(AddressRange range) const {
    std::uint64_t bytes = 0;
    auto at = std::lower_bound(mapped_.begin(), mapped_.end(), range.start,
                               [](const AddressRange& r, Address a) { return r.end <= a; });
    for (; at != mapped_.end() && at->start < range.end; ++at)
        bytes += std::min(at->end, range.end) - std::max(at->start, range.start);
    return bytes;
}

std::uint64_t RegionMap::divide(AddressRange range, const MemoryShares& shares) {
    if (range.end <= range.start) return 0;
    divided_.push_back(range);
    const std::uint64_t bytes = mapped_bytes(range), named = shares.sum();
    assert(named <= bytes);
    MemoryShares all = shares;
    all[MemoryOwner::headers] += bytes - named;
    of_divided_.add(all);
    if (const std::size_t region = first_region_in(range); region < regions_.size())
        divided_of_regions_[region].add(all);
    return bytes - named;
}

namespace {

/// The ranges of one owner, from one border to the next.
struct Layer {
    std::span<const AddressRange> ranges;
    std::size_t next = 0;

    /// Whether the layer has the byte at `at`. To be asked with growing addresses.
    bool has(Address at) {
        while (next < ranges.size() && ranges[next].end <= at) ++next;
        return next < ranges.size() && ranges[next].start <= at;
    }
    /// The first address after `at` where that changes.
    Address border(Address at) const {
        if (next == ranges.size()) return Address(std::numeric_limits<std::uint64_t>::max());
        return ranges[next].start <= at ? ranges[next].end : ranges[next].start;
    }
};

}  // namespace

MemoryShares RegionMap::shares() {
    MemoryShares result = of_divided_;
    of_regions_ = divided_of_regions_;
    overlaps_ = 0;
    [[maybe_unused]] const std::uint64_t divided_twice = join_ranges(divided_);
    assert(divided_twice == 0);
    std::vector<Layer> layers{{divided_}};  // the first, and then by owner
    for (std::size_t owner = 0; owner < memory_owners; ++owner) {
        const std::uint64_t twice = join_ranges(claims_[owner]);
        if (owner <= static_cast<std::size_t>(MemoryOwner::objects)) overlaps_ += twice;
        layers.push_back({claims_[owner]});
    }
    for (std::size_t region = 0; region < regions_.size(); ++region) {
        for (Address at = regions_[region].start; at < regions_[region].end;) {
            Address end = regions_[region].end;
            std::size_t first = layers.size();
            for (std::size_t i = 0; i < layers.size(); ++i) {
                if (layers[i].has(at) && first == layers.size()) first = i;
                end = std::min(end, layers[i].border(at));
            }
            if (first > 0) {
                const auto owner =
                    first == layers.size() ? MemoryOwner::other : static_cast<MemoryOwner>(first - 1);
                result[owner] += end - at;
                of_regions_[region][owner] += end - at;
            }
            at = end;
        }
    }
    assert(result.sum() == mapped_bytes_);
    return result;
}

}  // namespace heapsift
