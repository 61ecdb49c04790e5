// Who claims which memory. Objects and arrays were asked one by one (owned_memory.cpp); allocators list their
// blocks; a core's segments tell what is a program's file and what is a stack.
//
// An allocator's blocks come in address order, and so do the ranges that objects own and the data of arrays.
// All are read side by side, so for each block it is known at once whether it is an object's (if a range of
// an object begins with it; an object in the middle of a block of C code takes only its own bytes), how much
// of it is array data, and whether it is in use by somebody else. For pymalloc, a bit per block tells which
// are objects'.

#include "parsers/snapshot/regions.h"

#include "parsers/elf/bytes.h"
#include "parsers/elf/elf_file.h"
#include "parsers/snapshot/range_cursor.h"
#include "parsers/snapshot/thread_stacks.h"
#include "parsers/snapshot/untouched_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace heapsift {
namespace {

// Bytes that an object may claim beyond its block, if its type declares more than it allocates.
constexpr std::uint64_t claimed_too_much = ObjectAccess::declared_too_much;

/// What is read beside an allocator's blocks.
struct Cursors {
    RangeCursor objects, arrays, never, zeros;
};

/// Of the blocks in a part.
struct UntouchedBytes {
    std::uint64_t never = 0, zeros = 0;
};

class RegionFiller {
public:
    RegionFiller(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned,
                 const FoundObjects& objects)
        : core_(core),
          objects_(objects),
          allocations_(allocations),
          owned_(owned),
          untouched_(untouched_memory(core)),
          map_(mapped(core)),
          overlaps_(owned.overlaps()),
          lead_(allocations.debug_hooks() ? 32 : 0) {}  // the hooks' marks, of two domains

    Regions fill() {
        Regions result;
        for (const Allocator* allocator : allocations_.all()) result.allocators.push_back(divide(*allocator));
        for (const AddressRange& range : untouched_.never) map_.claim(MemoryOwner::reserved, range);
        for (const AddressRange& range : untouched_.zeros) map_.claim(MemoryOwner::zeros, range);
        for (const AddressRange& range : owned_.array_data()) map_.claim(MemoryOwner::array_data, range);
        for (const AddressRange& range : owned_.elsewhere()) map_.claim(MemoryOwner::objects, range);
        claim_segments();
        result.shares = map_.shares();
        result.overlaps = overlaps_ + map_.overlaps();
        result.mappings = map_.regions();
        result.of_mappings = map_.by_region();
        result.sparse = find_sparse_arenas(allocations_.pymalloc(), objects_, untouched_);
        return result;
    }

private:
    static std::vector<AddressRange> mapped(const CoreFile& core) {
        std::vector<AddressRange> ranges;
        for (const Segment& segment : core.memory().segments())
            ranges.push_back({segment.start, segment.end()});
        return ranges;
    }

    /// Cuts sorted ranges: leaves out `taken`, and ends one where a mapping ends.
    static std::vector<AddressRange> cut(const std::vector<AddressRange>& ranges,
                                         const std::vector<AddressRange>& taken,
                                         const std::vector<AddressRange>& mappings) {
        std::vector<AddressRange> parts;
        auto other = taken.begin();
        auto mapping = mappings.begin();
        for (const AddressRange& range : ranges)
            for (Address at = range.start; at < range.end;) {
                while (other != taken.end() && other->end <= at) ++other;
                while (mapping != mappings.end() && mapping->end <= at) ++mapping;
                if (other != taken.end() && other->start <= at) {
                    at = other->end;
                    continue;
                }
                Address end = range.end;
                if (other != taken.end()) end = std::min(end, other->start);
                if (mapping != mappings.end()) end = std::min(end, mapping->end);
                parts.push_back({at, end});
                at = end;
            }
        return parts;
    }

    /// Divides the parts of an allocator's ranges that no earlier allocator took, one after another.
    AllocatorShares divide(const Allocator& allocator) {
        const std::vector<AddressRange> parts = cut(allocator.ranges(), divided_, map_.regions());
        Cursors cursors{RangeCursor(owned_.ranges()), RangeCursor(owned_.array_data()),
                        RangeCursor(untouched_.never), RangeCursor(untouched_.zeros)};
        AllocatorShares all;
        all.name = allocator.name();
        std::size_t part = 0;
        MemoryShares shares;
        UntouchedBytes of_blocks;
        RangeCursor never(untouched_.never), zeros(untouched_.zeros);
        const auto next_part = [&] {
            // An allocator has pages for itself between its blocks, of which it has touched some.
            const auto without = [](std::uint64_t bytes, std::uint64_t some) {
                return bytes - std::min(bytes, some);
            };
            const std::uint64_t outside = std::max(without(never.bytes_in(parts[part]), of_blocks.never),
                                                   without(zeros.bytes_in(parts[part]), of_blocks.zeros));
            shares[MemoryOwner::reserved] +=
                std::min(outside, without(map_.mapped_bytes(parts[part]), shares.sum()));
            of_blocks = {};
            shares[MemoryOwner::headers] += map_.divide(parts[part++], shares);
            all.shares.add(shares);
            shares = {};
        };
        const MallocHeaps& heaps = allocations_.malloc_heaps();
        const bool is_malloc = &allocator == &heaps;
        allocator.visit_blocks([&](std::span<const MemoryBlock> blocks) {
            const AddressRange range{blocks.front().start, blocks.back().range().end};
            const bool is_mapped = map_.mapped_bytes(range) == range.size();
            for (const MemoryBlock& block : blocks) {
                // A block that crosses the border of a part is cut there, at the cost of two more lookups.
                for (Address at = block.start; part < parts.size() && at < block.range().end;) {
                    while (part < parts.size() && parts[part].end <= at) next_part();
                    if (part == parts.size()) break;
                    const AddressRange there{std::max(at, parts[part].start),
                                             std::min(block.range().end, parts[part].end)};
                    if (there.end <= there.start) break;
                    const std::uint64_t bytes = is_mapped ? there.size() : map_.mapped_bytes(there);
                    add(block, there, bytes,
                        is_malloc && block.bytes >= page_bytes && !heaps.heap_at(block.start), cursors,
                        shares, of_blocks);
                    if (!block.in_use && is_malloc) all.trim += whole_pages(there, cursors);
                    if (there.start == block.start) ++(block.in_use ? all.blocks : all.free_blocks);
                    at = there.end;
                }
            }
        });
        while (part < parts.size()) next_part();
        divided_.insert(divided_.end(), parts.begin(), parts.end());
        std::sort(divided_.begin(), divided_.end(),
                  [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
        return all;
    }

    /// What malloc_trim gives back of a free chunk: whole pages behind its header (malloc.c, mtrim), of those that
    /// were ever touched.
    static std::uint64_t whole_pages(const AddressRange& chunk, Cursors& cursors) {
        constexpr std::uint64_t header = 0x30;
        const AddressRange pages{(chunk.start + header).rounded_up(page_bytes),
                                 chunk.end.rounded_down(page_bytes)};
        if (pages.end <= pages.start) return 0;
        return pages.size() -
               std::min(pages.size(), std::max(cursors.never.bytes_in(pages), cursors.zeros.bytes_in(pages)));
    }

    /// Counts `there`, the part of `block` that is divided now, of which `bytes` are mapped. `is_apart`: the kernel made
    /// a mapping for this block alone.
    void add(const MemoryBlock& block, const AddressRange& there, std::uint64_t bytes, bool is_apart,
             Cursors& cursors, MemoryShares& shares, UntouchedBytes& of_blocks) {
        const std::uint64_t never = cursors.never.bytes_in(there), zeros = cursors.zeros.bytes_in(there);
        of_blocks.never += never;
        of_blocks.zeros += zeros;
        std::uint64_t untouched = block.in_use ? never : std::max(never, zeros);
        untouched = std::min(untouched, bytes);
        shares[MemoryOwner::reserved] += untouched;
        bytes -= untouched;
        std::uint64_t array_data = std::min(cursors.arrays.bytes_in(there), bytes);
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
        // Python itself fills a buffer with zeros where these are asked for (bytearrayobject.c, _ctypes.c).
        if (is_apart && block.in_use && (array_data > 0 || of_objects == 0)) {
            const std::uint64_t perhaps = std::min(zeros, array_data > 0 ? array_data : bytes);
            shares[MemoryOwner::zero_blocks] += perhaps;
            bytes -= perhaps;
            array_data -= std::min(array_data, perhaps);
            of_objects -= std::min(of_objects, perhaps);
        }
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

    /// The row of NT_FILE that holds the address; null if none does. Rows of a core may lie in any order.
    const MappedFile* row_at(Address at) {
        if (rows_.empty()) {
            for (const MappedFile& row : core_.mapped_files()) rows_.push_back(&row);
            std::sort(rows_.begin(), rows_.end(), begins_before);
        }
        const auto next =
            std::upper_bound(rows_.begin(), rows_.end(), at,
                             [](Address a, const MappedFile* row) { return a < row->range.start; });
        return next != rows_.begin() && (*(next - 1))->range.contains(at) ? *(next - 1) : nullptr;
    }
    static bool begins_before(const MappedFile* a, const MappedFile* b) {
        return a->range.start < b->range.start;
    }

    /// The kernel saves all of a mapping of a program in which a page was written (also what is read-only since it was
    /// relocated), gdb all that it can read: what equals the file is still the file's. Without the file at hand all
    /// that can be written, or was saved beyond an image's first page, counts as written.
    void claim_module(const Segment& segment) {
        const ElfFile* const file = core_.file_of(core_.modules()[static_cast<std::size_t>(segment.module)]);
        const MappedFile* const row = row_at(segment.start);
        const auto claim = [&](std::uint64_t from, std::uint64_t to, bool changed) {
            map_.claim(changed ? MemoryOwner::module_data : MemoryOwner::files,
                       {segment.start + from, segment.start + to});
        };
        if (segment.executable && !segment.writable) return claim(0, segment.size, false);
        if (!file || file->only_debug_info || !row)
            return claim(0, segment.size,
                         segment.writable || (segment.size > page_bytes && !core_.process().from_gcore));
        const Bytes bytes = file->bytes();
        const std::uint64_t offset = row->file_offset + (segment.start - row->range.start),
                            of_row = std::min<std::uint64_t>(segment.size, row->range.end - segment.start);
        const auto is_changed = [&](std::uint64_t from) {
            const std::uint64_t size = std::min(page_bytes, segment.size - from);
            if (from >= of_row || offset + from >= bytes.size()) return true;
            const std::uint64_t there = std::min<std::uint64_t>(size, bytes.size() - (offset + from));
            return std::memcmp(bytes.data() + offset + from, segment.data + from, there) != 0 ||
                   std::any_of(segment.data + from + there, segment.data + from + size,
                               [](std::byte b) { return b != std::byte{0}; });  // behind the file's end
        };
        for (std::uint64_t at = 0; at < segment.size;) {
            const bool changed = is_changed(at);
            std::uint64_t end = at + page_bytes;
            while (end < segment.size && is_changed(end) == changed) end += page_bytes;
            end = std::min(end, segment.size);
            claim(at, end, changed);
            at = end;
        }
    }

    static bool is_within(const AddressRange& range, const std::vector<AddressRange>& ranges) {
        return std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& one) {
            return one.start <= range.start && range.end <= one.end;
        });
    }

    void claim_segments() {
        const std::vector<AddressRange> stacks = thread_stacks(core_, allocations_);
        std::vector<AddressRange> files, shared;
        for (const MappedFile& file : core_.mapped_files())
            (is_shared_memory(file.path) ? shared : files).push_back(file.range);
        join_ranges(files);
        join_ranges(shared);
        RangeCursor of_files(files), of_shared(shared);
        for (const Segment& segment : core_.memory().segments()) {
            const AddressRange range{segment.start, segment.end()};
            if (segment.module >= 0 && segment.state == ByteState::in_core)
                claim_module(segment);
            else if (segment.module >= 0 || segment.state == ByteState::from_file)
                map_.claim(MemoryOwner::files, range);
            else if (is_within(range, stacks) && (!segment.cut || segment.state == ByteState::in_core))
                map_.claim(MemoryOwner::stacks, range);
            else if (is_within(range, stacks))  // lost: a thread's reserve, most of it never used
                map_.claim(MemoryOwner::reserved, range);
            else if (of_shared.bytes_in(range) > 0)
                map_.claim(MemoryOwner::data_files, range);
            else if (of_files.bytes_in(range) >
                     0)  // the kernel saves what was changed of a file, gcore all of it
                map_.claim(
                    segment.state == ByteState::in_core && segment.writable && !core_.process().from_gcore
                        ? MemoryOwner::data_files
                        : MemoryOwner::files,
                    range);
            else if (segment.state == ByteState::not_saved)
                map_.claim(MemoryOwner::not_saved, range);
        }
    }

    const CoreFile& core_;
    const FoundObjects& objects_;
    const Allocations& allocations_;
    const OwnedPlaces& owned_;
    const UntouchedMemory untouched_;
    RegionMap map_;
    std::vector<AddressRange> divided_;    // sorted
    std::vector<const MappedFile*> rows_;  // sorted
    std::uint64_t overlaps_;
    std::uint64_t lead_;
    std::size_t pool_index_ = 0;
};

}  // namespace

Regions map_regions(const CoreFile& core, const Allocations& allocations, const OwnedPlaces& owned,
                    const FoundObjects& objects) {
    return RegionFiller(core, allocations, owned, objects).fill();
}

}  // namespace heapsift
