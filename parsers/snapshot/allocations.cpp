// One answer from the allocators; the essay of each is in its own file.

#include "parsers/snapshot/allocations.h"

namespace heapsift {

std::optional<Allocations::Block> Allocations::block_starting_at(Address start) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) {
        const std::uint64_t offset = start - pool->start;
        if (offset < pymalloc_.header_size() || (offset - pymalloc_.header_size()) % pool->block_size != 0) return std::nullopt;
        const auto block = pymalloc_.block_at(start);
        if (!block || !block->allocated) return std::nullopt;
        return Block{start, block->size, Owner::pymalloc};
    }
    if (is_static(start)) return std::nullopt;
    if (const auto block = heaps_.block_starting_at(start)) return Block{start, block->usable, Owner::malloc};
    return std::nullopt;
}

std::uint64_t Allocations::bytes_of(Address start, std::uint64_t requested) const {
    if (const Pool* pool = pymalloc_.pool_at(start)) return pool->block_size;
    if (is_static(start)) return 0;
    if (const auto block = heaps_.block_starting_at(start); block && block->usable >= requested) return block->usable;
    return (requested + 15) / 16 * 16;
}

bool Allocations::is_static(Address address) const {
    const Segment* segment = memory_->find(address);
    if (!segment) return false;
    if (segment->module >= 0) return true;
    // .bss: anonymous memory that begins where a module's data ends, and no heap that malloc walks.
    const Segment* before = memory_->find(segment->start - 1);
    return before && before->module >= 0 && !heaps_.heap_at(address) && !pymalloc_.pool_at(address);
}

}  // namespace heapsift
