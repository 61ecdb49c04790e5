// jemalloc's blocks: the regions of its slabs, and its large blocks.
//
// A region is free if its bit is set, or if a thread's cache has it. The table in which a cache keeps addresses of
// free blocks is itself a block, handed out to jemalloc: it is neither in use nor free here, or what it still names
// would seem to be held.

#include "parsers/memory/jemalloc.h"

#include "parsers/memory/jemalloc_caches.h"
#include "parsers/memory/region_map.h"

#include <algorithm>
#include <bit>

namespace heapsift {

std::unique_ptr<const Jemalloc> Jemalloc::find(const AddressSpace& memory, std::span<const Module> modules,
                                               std::span<const CoreThread> threads) {
    std::vector<AddressRange> images;
    for (const Module& module : modules)
        if (module.image_end > module.start) images.push_back({module.start, module.image_end});
    std::vector<JemallocTree> trees = find_jemalloc_trees(memory, images);
    if (trees.empty()) return nullptr;
    std::vector<JemallocVersion> versions;
    for (const JemallocTree& tree : trees) versions.push_back(tree.version);
    std::sort(versions.begin(), versions.end());
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());

    std::unique_ptr<Jemalloc> found(new Jemalloc(std::move(trees)));
    std::uint64_t caches = 0;
    for (const JemallocVersion version : versions) {
        const JemallocCaches kept = find_jemalloc_caches(memory, threads, version);
        caches += kept.caches;
        for (const JemallocCaches::Block& block : kept.blocks)
            found->free_cached(block.start, block.size_class);
        for (const Address table : kept.tables) found->take_own(table);
    }
    std::sort(found->own_.begin(), found->own_.end());
    found->doubts_.no_caches = caches == 0;
    return found;
}

Jemalloc::Jemalloc(std::vector<JemallocTree> trees) {
    for (JemallocTree& tree : trees) {
        const std::uint64_t before = free_bits_.size();
        for (JemallocExtent& extent : tree.extents)
            if (extent.kind == JemallocExtent::Kind::slab) extent.start += before;
        if (extents_.empty()) {
            extents_ = std::move(tree.extents);
            free_bits_ = std::move(tree.free_bits);
        } else {
            extents_.insert(extents_.end(), tree.extents.begin(), tree.extents.end());
            free_bits_.insert(free_bits_.end(), tree.free_bits.begin(), tree.free_bits.end());
        }
        ranges_.insert(ranges_.end(), tree.metadata.begin(), tree.metadata.end());
        doubts_.extents += tree.broken + tree.unequal;
    }
    const auto before = [](const JemallocExtent& a, const JemallocExtent& b) {
        return a.pages.start < b.pages.start;
    };
    if (!std::is_sorted(extents_.begin(), extents_.end(), before))
        std::stable_sort(extents_.begin(), extents_.end(), before);
    Address end;
    const auto overlaps = [&](const JemallocExtent& extent) {
        if (extent.pages.start < end) return true;
        end = extent.pages.end;
        return false;
    };
    doubts_.extents += std::erase_if(extents_, overlaps);
    for (const JemallocExtent& extent : extents_) ranges_.push_back(extent.pages);
    join_ranges(ranges_);
}

const JemallocExtent* Jemalloc::extent_at(Address address) const {
    const auto above =
        std::upper_bound(extents_.begin(), extents_.end(), address,
                         [](Address a, const JemallocExtent& extent) { return a < extent.pages.start; });
    return above != extents_.begin() && (above - 1)->pages.contains(address) ? &*(above - 1) : nullptr;
}

void Jemalloc::free_cached(Address start, unsigned size_class) {
    const JemallocExtent* const at = extent_at(start);
    const auto doubtful = [&] { ++doubts_.cached; };
    if (!at || at->size_class != size_class) return doubtful();
    JemallocExtent& extent = extents_[static_cast<std::size_t>(at - extents_.data())];
    if (extent.kind == JemallocExtent::Kind::slab) {
        const std::uint64_t bytes = jemalloc_class_bytes(size_class), offset = start - extent.pages.start;
        const std::uint64_t index = offset / bytes;
        if (offset % bytes != 0 || index >= jemalloc_regions(extent) || is_free(extent, index))
            return doubtful();
        free_bits_[extent.start + index / 64] |= std::uint64_t{1} << (index % 64);
        cached_.in_slabs += bytes;
    } else {
        if (extent.kind != JemallocExtent::Kind::large || extent.start != start.value || !extent.in_use)
            return doubtful();
        extent.in_use = false;
        cached_.large += jemalloc_large_bytes(extent);
    }
}

void Jemalloc::take_own(Address address) {
    const auto block = block_at(address);
    if (!block || !block->in_use) return;
    own_.push_back(block->start);
    const JemallocExtent* const extent = extent_at(address);
    extents_[static_cast<std::size_t>(extent - extents_.data())].has_own = true;
}

std::uint64_t Jemalloc::own_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < own_.size(); ++i)
        if (i == 0 || own_[i] != own_[i - 1])
            if (const JemallocExtent* const extent = extent_at(own_[i]))
                bytes += extent->kind == JemallocExtent::Kind::large
                             ? jemalloc_large_bytes(*extent)
                             : jemalloc_class_bytes(extent->size_class);
    return bytes;
}

std::optional<MemoryBlock> Jemalloc::block_at(Address address) const {
    const JemallocExtent* const extent = extent_at(address);
    if (!extent) return std::nullopt;
    MemoryBlock block;
    switch (extent->kind) {
        case JemallocExtent::Kind::free:
            return MemoryBlock{extent->pages.start, extent->pages.size(), false};
        case JemallocExtent::Kind::large:
            block = {Address(extent->start), jemalloc_large_bytes(*extent), extent->in_use};
            break;
        case JemallocExtent::Kind::slab: {
            const std::uint64_t bytes = jemalloc_class_bytes(extent->size_class);
            const std::uint64_t index = (address - extent->pages.start) / bytes;
            if (index >= jemalloc_regions(*extent)) return std::nullopt;
            block = {extent->pages.start + index * bytes, bytes, !is_free(*extent, index)};
        }
    }
    if (!block.range().contains(address)) return std::nullopt;
    if (extent->has_own && std::binary_search(own_.begin(), own_.end(), block.start)) return std::nullopt;
    return block;
}

void Jemalloc::visit_blocks(const BlockVisitor& visit) const {
    constexpr std::size_t at_once = 512;
    std::vector<MemoryBlock> blocks;
    const auto add = [&](const JemallocExtent& extent, const MemoryBlock& block) {
        if (extent.has_own && std::binary_search(own_.begin(), own_.end(), block.start)) return;
        blocks.push_back(block);
        if (blocks.size() < at_once) return;
        visit(blocks);
        blocks.clear();
    };
    for (const JemallocExtent& extent : extents_) {
        if (extent.kind == JemallocExtent::Kind::free) {
            add(extent, {extent.pages.start, extent.pages.size(), false});
        } else if (extent.kind == JemallocExtent::Kind::large) {
            add(extent, {Address(extent.start), jemalloc_large_bytes(extent), extent.in_use});
        } else {
            const std::uint64_t bytes = jemalloc_class_bytes(extent.size_class),
                                count = jemalloc_regions(extent);
            for (std::uint64_t i = 0; i < count; ++i)
                add(extent, {extent.pages.start + i * bytes, bytes, !is_free(extent, i)});
        }
    }
    if (!blocks.empty()) visit(blocks);
}

}  // namespace heapsift
