// One answer from the allocators; the essay of each is in its own file.

#include "parsers/snapshot/allocations.h"

#include <algorithm>

namespace heapsift {

Allocations::Allocations(const CoreFile& core, Pymalloc pymalloc, MallocHeaps heaps)
    : memory_(&core.memory()), pymalloc_(std::move(pymalloc)), heaps_(std::move(heaps)) {
    for (const Module& module : core.modules())
        if (module.image_end > module.start) images_.push_back({module.start, module.image_end});
    std::sort(images_.begin(), images_.end(), [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    for (std::size_t i = 1; i < images_.size(); ++i) images_[i - 1].end = std::min(images_[i - 1].end, images_[i].start);
}

std::optional<Allocations::Block> Allocations::behind_debug_mark(const Block& raw) const {
    // _PyMem_DebugRawAlloc (obmalloc.c, 3.8 and later): eight bytes of size, most significant first, the domain's letter, seven
    // 0xFD.
    constexpr std::uint64_t mark_size = 16;
    constexpr std::uint64_t forbidden = 0xfdfdfdfdfdfdfd00;
    const auto size = memory_->read<std::uint64_t>(raw.start);
    const auto mark = memory_->read<std::uint64_t>(raw.start + 8);
    if (!size || !mark || (*mark & ~std::uint64_t{0xff}) != forbidden) return std::nullopt;
    const auto letter = static_cast<char>(*mark & 0xff);
    const std::uint64_t asked = __builtin_bswap64(*size);
    if ((letter != 'o' && letter != 'm' && letter != 'r') || raw.usable < mark_size || asked > raw.usable - mark_size)
        return std::nullopt;
    return Block{raw.start + mark_size, asked, raw.owner};
}

std::optional<Allocations::Block> Allocations::block_starting_at(Address start) const {
    if (auto block = raw_block_starting_at(start)) return block;
    if (!debug_hooks_) return std::nullopt;
    if (const auto raw = raw_block_starting_at(start - 16))
        if (auto inner = behind_debug_mark(*raw)) return inner;
    // A request above 512 bytes goes from one domain to malloc's, and both leave their mark.
    const auto raw = raw_block_starting_at(start - 32);
    const auto outer = raw ? behind_debug_mark(*raw) : std::nullopt;
    return outer ? behind_debug_mark(*outer) : std::nullopt;
}

std::optional<Allocations::Block> Allocations::raw_block_starting_at(Address start) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) {
        const std::uint64_t offset = start - pool->start;
        if (offset < pymalloc_.header_size() || (offset - pymalloc_.header_size()) % pool->block_size != 0) return std::nullopt;
        const auto block = pymalloc_.block_at(start);
        if (!block || !block->allocated) return std::nullopt;
        return Block{start, block->size, Owner::pymalloc};
    }
    if (is_static(start)) return std::nullopt;
    if (const auto block = heaps_.block_starting_at(start))
        return Block{start, block->usable, block->mmapped ? Owner::mapping : Owner::malloc};
    return std::nullopt;
}

std::uint64_t Allocations::bytes_of(Address start, std::uint64_t requested) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) return pool->block_size;
    if (is_static(start)) return 0;
    if (const auto block = heaps_.block_starting_at(start); block && block->usable >= requested) return block->usable;
    if (debug_hooks_)
        for (const std::uint64_t marks : {16U, 32U})
            if (const auto block = heaps_.block_starting_at(start - marks); block && block->usable >= requested)
                return block->usable;
    return (requested + 15) / 16 * 16;
}

bool Allocations::is_static(Address address) const {
    const auto above =
        std::upper_bound(images_.begin(), images_.end(), address, [](Address a, const AddressRange& r) { return a < r.start; });
    if (above != images_.begin() && (above - 1)->contains(address)) return true;
    const Segment* segment = memory_->find(address);
    return segment && segment->module >= 0;
}

bool Allocations::in_allocated_block(Address at) const {
    if (pymalloc_.pool_at(at)) {
        const auto block = pymalloc_.block_at(at);
        return block && block->allocated;
    }
    return !heaps_.heap_at(at) || heaps_.block_containing(at).has_value();
}

}  // namespace heapsift
