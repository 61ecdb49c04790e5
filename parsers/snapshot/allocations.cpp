// One interface to all allocators. How each is read stands in its own file.

#include "parsers/snapshot/allocations.h"

#include "parsers/elf/bytes.h"

#include <algorithm>

namespace heapsift {

namespace {

// The most bytes that malloc gives beyond a request: rounding, a rest too small to be a chunk, and slightly
// more for an aligned request.
constexpr std::uint64_t believed_spare = 256;

}  // namespace

Allocations::Allocations(const CoreFile& core, Pymalloc pymalloc, MallocHeaps heaps)
    : memory_(&core.memory()), pymalloc_(std::move(pymalloc)), heaps_(std::move(heaps)) {
    for (const Module& module : core.modules())
        if (module.image_end > module.start) images_.push_back({module.start, module.image_end});
    std::sort(images_.begin(), images_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    for (std::size_t i = 1; i < images_.size(); ++i)
        images_[i - 1].end = std::min(images_[i - 1].end, images_[i].start);
}

void Allocations::add(std::unique_ptr<const Allocator> allocator) {
    std::vector<AddressRange> ranges = allocator->ranges();
    others_.push_back({std::move(allocator), std::move(ranges)});
}

std::vector<const Allocator*> Allocations::all() const {
    std::vector<const Allocator*> all{&pymalloc_, &heaps_};
    for (const Other& other : others_) all.push_back(other.allocator.get());
    return all;
}

std::vector<AddressRange> Allocations::added_blocks() const {
    std::vector<AddressRange> added;
    for (const Other& other : others_)
        other.allocator->visit_blocks([&](std::span<const MemoryBlock> blocks) {
            for (const MemoryBlock& block : blocks)
                if (block.in_use && block.bytes > 0) added.push_back(block.range());
        });
    const auto before = [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; };
    if (others_.size() > 1) std::stable_sort(added.begin(), added.end(), before);
    Address end;
    std::erase_if(added, [&](const AddressRange& block) {
        if (block.start < end) return true;
        end = block.end;
        return false;
    });
    return added;
}

bool Allocations::has(std::string_view name) const {
    return std::any_of(others_.begin(), others_.end(),
                       [&](const Other& other) { return other.allocator->name() == name; });
}

const Allocator* Allocations::other_at(Address address) const {
    for (const Other& other : others_) {
        const auto above = std::upper_bound(other.ranges.begin(), other.ranges.end(), address,
                                            [](Address a, const AddressRange& r) { return a < r.start; });
        if (above != other.ranges.begin() && (above - 1)->contains(address)) return other.allocator.get();
    }
    return nullptr;
}

bool Allocations::begins_with_link(Address start) const {
    const Allocator* const allocator = other_at(start);
    const auto word = memory_->read_address(start);
    if (!allocator || !word || *word == start || other_at(*word) != allocator) return false;
    const auto block = allocator->block_at(start), next = allocator->block_at(*word);
    return block && next && block->start == start && next->start == *word && next->bytes == block->bytes;
}

std::optional<Allocations::Block> Allocations::behind_debug_mark(const Block& raw) const {
    // _PyMem_DebugRawAlloc (obmalloc.c, 3.8 and later): eight bytes of size, most significant first, the
    // domain's letter, seven 0xFD.
    constexpr std::uint64_t mark_size = 16;
    constexpr std::uint64_t forbidden = 0xfdfdfdfdfdfdfd00;
    const auto size = memory_->read<std::uint64_t>(raw.start);
    const auto mark = memory_->read<std::uint64_t>(raw.start + 8);
    if (!size || !mark || (*mark & ~std::uint64_t{0xff}) != forbidden) return std::nullopt;
    const auto letter = static_cast<char>(*mark & 0xff);
    const std::uint64_t asked = __builtin_bswap64(*size);
    if ((letter != 'o' && letter != 'm' && letter != 'r') || raw.usable < mark_size ||
        asked > raw.usable - mark_size)
        return std::nullopt;
    return Block{raw.start + mark_size, asked, raw.owner};
}

std::optional<Allocations::Block> Allocations::block_starting_at(Address start) const {
    if (auto block = raw_block_starting_at(start)) return block;
    if (!debug_hooks_) return std::nullopt;
    if (const auto raw = raw_block_starting_at(start - 16))
        if (auto inner = behind_debug_mark(*raw)) return inner;
    // A request above 512 bytes goes from one domain to that of malloc, and both leave their mark.
    const auto raw = raw_block_starting_at(start - 32);
    const auto outer = raw ? behind_debug_mark(*raw) : std::nullopt;
    return outer ? behind_debug_mark(*outer) : std::nullopt;
}

std::optional<Allocations::Block> Allocations::raw_block_starting_at(Address start) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) {
        const std::uint64_t offset = start - pool->start;
        if (offset < pymalloc_.header_size() || (offset - pymalloc_.header_size()) % pool->block_size != 0)
            return std::nullopt;
        const auto block = pymalloc_.block_at(start);
        if (!block || !block->in_use) return std::nullopt;
        return Block{start, block->bytes, Owner::pymalloc};
    }
    if (is_static(start) || pymalloc_.in_arena(start)) return std::nullopt;
    if (const Allocator* other = other_at(start)) {
        const auto block = other->block_at(start);
        if (!block || !block->in_use || block->start != start) return std::nullopt;
        return Block{start, block->bytes, Owner::other};
    }
    if (const auto block = heaps_.block_starting_at(start))
        return Block{start, block->usable, block->mmapped ? Owner::mapping : Owner::malloc};
    return std::nullopt;
}

Allocations::Held Allocations::held(Address start, std::uint64_t requested, std::uint64_t slack) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) {
        const std::uint64_t behind = pool->start + pymalloc_.pool_size() - start;
        return {pool->block_size, requested <= pool->block_size + slack && requested <= behind, 0, pool};
    }
    if (is_static(start)) return {0, memory_->mapped_bytes(start, requested) == requested};
    const Held rounded{(requested + 15) / 16 * 16, true};
    const MallocHeaps::Heap* heap = heaps_.heap_at(start);
    if (const Allocator* other = other_at(start))
        if (const auto block = other->block_at(start)) {
            const std::uint64_t behind = block->start + block->bytes - start;
            return {block->bytes, block->in_use && requested <= behind + slack, start - block->start};
        }
    if (pymalloc_.in_arena(start))
        return memory_->mapped_bytes(start, requested) == requested ? rounded : Held{0, false};
    if (const auto block = heaps_.block_starting_at(start)) {
        // Outside heaps that were walked, a block far larger than the request is a word that looks like a
        // size.
        const bool believed =
            heap || block->usable - requested <= (block->mmapped ? page_bytes : 0) + believed_spare;
        if (block->usable >= requested && believed) return {block->usable, true};
        if (heap && block->usable < requested && requested - block->usable > slack)
            return {block->usable, false};
    }
    if (debug_hooks_)
        for (const std::uint64_t marks : {16U, 32U})
            if (const auto block = heaps_.block_starting_at(start - marks);
                block && block->usable >= requested)
                return {block->usable, true, marks};
    // A claim that cannot be true measures nothing, so nothing is counted.
    const std::uint64_t there =
        heap ? std::min(requested, heap->range.end - start) : memory_->mapped_bytes(start, requested);
    return there == requested ? rounded : Held{0, false};
}

bool Allocations::is_static(Address address) const {
    const auto above = std::upper_bound(images_.begin(), images_.end(), address,
                                        [](Address a, const AddressRange& r) { return a < r.start; });
    if (above != images_.begin() && (above - 1)->contains(address)) return true;
    const Segment* segment = memory_->find(address);
    return segment && segment->module >= 0;
}

bool Allocations::in_allocated_block(Address at) const {
    if (pymalloc_.pool_at(at)) {
        const auto block = pymalloc_.block_at(at);
        return block && block->in_use;
    }
    if (const Allocator* other = other_at(at)) {
        const auto block = other->block_at(at);
        return block && block->in_use;
    }
    return !heaps_.heap_at(at) || heaps_.block_containing(at).has_value();
}

}  // namespace heapsift
