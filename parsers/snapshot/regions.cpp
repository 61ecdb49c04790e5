// Who claims which memory. Objects and arrays were asked one by one (owned_memory.cpp); allocators list their
// blocks; a core's segments tell what is a program's file and what is a stack.
//
// An allocator's blocks come in address order, and so do the ranges that objects own and the data of arrays.
// All are read side by side, so for each block it is known at once whether it is an object's (if a range of
// an object begins with it; an object in the middle of a block of C code takes only its own bytes), how much
// of it is array data, and whether it is in use by somebody else. For pymalloc, a bit per block tells which
// are objects'.

#include "parsers/snapshot/regions.h"

#include "parsers/snapshot/thread_stacks.h"
#include "parsers/snapshot/untouched_memory.h"

#include <algorithm>
#include <vector>

namespace heapsift {
namespace {

// Bytes that an object may claim beyond its block, if its type declares more than it allocates.
constexpr std::uint64_t claimed_too_much = ObjectAccess::declared_too_much;

/// Sorted ranges without overlaps, compared with blocks in address order.
class RangeCursor {
public:
    explicit RangeCursor(const std::vector<AddressRange>& ranges) : ranges_(ranges) {}

    /// How many bytes of `block` lie in the ranges.
    std::uint64_t bytes_in(const AddressRange& block) {
        skip_to(block.start);
        std::uint64_t bytes = 0;
        for (std::size_t i = next_; i < ranges_.size() && ranges_[i].start < block.end; ++i)
            bytes += std::min(ranges_[i].end, block.end) - std::max(ranges_[i].start, block.start);
        return bytes;
    }
    /// True if a range covers one of the first bytes of `block`, at most `lead` after its start.
    bool begins(const AddressRange& block, std::uint64_t lead) {
        skip_to(block.start);
        return next_ < ranges_.size() && ranges_[next_].start <= block.start + lead &&
               ranges_[next_].start < block.end;
    }

private:
    void skip_to(Address start) {
        while (next_ < ranges_.size() && ranges_[next_].end <= start) ++next_;
    }

    const std::vector<AddressRange>& ranges_;
    std::size_t next_ = 0;
};

/// What is read beside an allocator's blocks.
struct Cursors {
    RangeCursor objects, arrays, never, zeros;
};

class RegionFiller {
public:
    RegionFiller(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned)
        : core_(core),
          allocations_(allocations),
          owned_(owned),
          untouched_(untouched_memory(core)),
          map_(mapped(core)),
          overlaps_(owned.overlaps()),
          lead_(allocations.debug_hooks() ? 32 : 0) {}  // the hooks' marks, of two domains

    Regions fill() {
        for (const Allocator* allocator : allocations_.all()) divide(*allocator);
        for (const AddressRange& range : untouched_.never) map_.claim(MemoryOwner::reserved, range);
        for (const AddressRange& range : untouched_.zeros) map_.claim(MemoryOwner::zeros, range);
        for (const AddressRange& range : owned_.array_data()) map_.claim(MemoryOwner::array_data, range);
        for (const AddressRange& range : owned_.elsewhere()) map_.claim(MemoryOwner::objects, range);
        claim_segments();
        const MemoryShares shares = map_.shares();
        return {shares, overlaps_ + map_.overlaps()};
    }

private:
    static std::vector<AddressRange> mapped(const CoreFile& core) {
        std::vector<AddressRange> ranges;
        for (const Segment& segment : core.memory().segments())
            ranges.push_back({segment.start, segment.end()});
        return ranges;
    }

    /// Divides the parts of an allocator's ranges that no earlier allocator took, one after another.
    void divide(const Allocator& allocator) {
        std::vector<AddressRange> parts;
        for (AddressRange range : allocator.ranges()) {
            for (const AddressRange& taken : divided_) {
                if (taken.end <= range.start || taken.start >= range.end) continue;
                if (range.start < taken.start) parts.push_back({range.start, taken.start});
                range.start = std::min(taken.end, range.end);
            }
            if (range.start < range.end) parts.push_back(range);
        }
        Cursors cursors{RangeCursor(owned_.ranges()), RangeCursor(owned_.array_data()),
                        RangeCursor(untouched_.never), RangeCursor(untouched_.zeros)};
        std::size_t part = 0;
        MemoryShares shares;
        const auto next_part = [&] {
            map_.divide(parts[part++], shares);
            shares = {};
        };
        allocator.visit_blocks([&](std::span<const MemoryBlock> blocks) {
            const AddressRange all{blocks.front().start, blocks.back().range().end};
            const bool is_mapped = map_.mapped_bytes(all) == all.size();
            for (const MemoryBlock& block : blocks) {
                // A block that crosses the border of a part is cut there, at the cost of two more lookups.
                for (Address at = block.start; part < parts.size() && at < block.range().end;) {
                    while (part < parts.size() && parts[part].end <= at) next_part();
                    if (part == parts.size()) break;
                    const AddressRange there{std::max(at, parts[part].start),
                                             std::min(block.range().end, parts[part].end)};
                    if (there.end <= there.start) break;
                    const std::uint64_t bytes = is_mapped ? there.size() : map_.mapped_bytes(there);
                    add(block, there, bytes, cursors, shares);
                    at = there.end;
                }
            }
        });
        while (part < parts.size()) next_part();
        divided_.insert(divided_.end(), parts.begin(), parts.end());
        std::sort(divided_.begin(), divided_.end(),
                  [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    }

    /// Counts `there`, the part of `block` that is divided now, of which `bytes` are mapped.
    void add(const MemoryBlock& block, const AddressRange& there, std::uint64_t bytes, Cursors& cursors,
             MemoryShares& shares) {
        std::uint64_t untouched = cursors.never.bytes_in(there);
        if (!block.in_use) untouched = std::max(untouched, cursors.zeros.bytes_in(there));
        untouched = std::min(untouched, bytes);
        shares[MemoryOwner::reserved] += untouched;
        bytes -= untouched;
        const std::uint64_t array_data = std::min(cursors.arrays.bytes_in(there), bytes);
        std::uint64_t of_objects = 0;
        if (const Pool* pool = pool_of(block.start)) {
            const auto index = static_cast<std::uint32_t>(
                (block.start - pool->start - allocations_.pymalloc().header_size()) / pool->block_size);
            const bool carved = index < pool->carved && block.bytes == pool->block_size;
            if (carved && owned_.owns_block(pool_index_, index)) of_objects = bytes;
        } else {
            of_objects = block.in_use && cursors.objects.begins(there, lead_)
                             ? bytes
                             : cursors.objects.bytes_in(there);
        }
        of_objects = std::max(std::min(of_objects, bytes), array_data);
        shares[MemoryOwner::array_data] += array_data;
        shares[MemoryOwner::objects] += of_objects - array_data;
        shares[block.in_use ? MemoryOwner::c_code : MemoryOwner::free] += bytes - of_objects;
        if (!block.in_use && of_objects > claimed_too_much) ++overlaps_;
    }

    /// Blocks come in address order, and so do pools.
    const Pool* pool_of(Address at) {
        const std::vector<Pool>& pools = allocations_.pymalloc().pools();
        const std::uint32_t size = allocations_.pymalloc().pool_size();
        if (pool_index_ >= pools.size() || at < pools[pool_index_].start) pool_index_ = 0;
        if (pools.empty() || at < pools.front().start || at >= pools.back().start + size) return nullptr;
        if (at - pools[pool_index_].start >= size) {
            const Pool* pool = allocations_.pymalloc().pool_at(at);
            if (!pool) return nullptr;
            pool_index_ = static_cast<std::size_t>(pool - pools.data());
        }
        const std::uint64_t header = allocations_.pymalloc().header_size();
        return at - pools[pool_index_].start < header ? nullptr : &pools[pool_index_];
    }

    void claim_segments() {
        const std::vector<AddressRange> stacks = thread_stacks(core_, allocations_.malloc_heaps());
        for (const Segment& segment : core_.memory().segments()) {
            const AddressRange range{segment.start, segment.end()};
            if (segment.module >= 0 || segment.state == ByteState::from_file)
                map_.claim(segment.state == ByteState::in_core && segment.writable ? MemoryOwner::module_data
                                                                                   : MemoryOwner::files,
                           range);
            else if (std::any_of(stacks.begin(), stacks.end(), [&](const AddressRange& stack) {
                         return stack.start <= range.start && range.end <= stack.end;
                     }))
                map_.claim(MemoryOwner::stacks, range);
            else if (segment.state == ByteState::not_saved)
                map_.claim(MemoryOwner::not_saved, range);
        }
    }

    const CoreFile& core_;
    const Allocations& allocations_;
    const OwnedPlaces& owned_;
    const UntouchedMemory untouched_;
    RegionMap map_;
    std::vector<AddressRange> divided_;  // sorted
    std::uint64_t overlaps_;
    std::uint64_t lead_;
    std::size_t pool_index_ = 0;
};

}  // namespace

Regions map_regions(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned) {
    return RegionFiller(core, allocations, owned).fill();
}

MemoryRows memory_rows(const Regions& regions) {
    const MemoryShares& shares = regions.shares;
    MemoryRows result;
    result.overlaps = regions.overlaps;
    using enum MemoryUse;
    result.rows = {{"array data", shares[MemoryOwner::array_data], in_use},
                   {"Python objects", shares[MemoryOwner::objects], in_use},
                   {"free, kept by Python and malloc", shares[MemoryOwner::free], in_use},
                   {"data of programs and libraries", shares[MemoryOwner::module_data], in_use},
                   {"thread stacks", shares[MemoryOwner::stacks], in_use},
                   {"other: C/C++ memory, Python's own tables",
                    shares[MemoryOwner::c_code] + shares[MemoryOwner::headers] +
                        shares[MemoryOwner::not_saved] + shares[MemoryOwner::other],
                    in_use},
                   {"program files", shares[MemoryOwner::files], program_files},
                   {"reserved", shares[MemoryOwner::reserved] + shares[MemoryOwner::zeros], reserved}};
    std::stable_sort(result.rows.begin(), result.rows.begin() + 5,
                     [](const MemoryRow& a, const MemoryRow& b) { return a.bytes > b.bytes; });
    return result;
}

}  // namespace heapsift
