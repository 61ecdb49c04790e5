#include "parsers/snapshot/owned_memory.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t believed_bytes = 512;

}  // namespace

struct OwnBuffers : BufferVisitor {
    explicit OwnBuffers(OwnedMemory& m) : memory(m) {}
    void visit(Address start, std::uint64_t bytes, bool) override { memory.add(start, bytes); }
    OwnedMemory& memory;
};

OwnedMemory::OwnedMemory(std::span<const Address> addresses, std::span<const TypeId> types,
                         const ObjectAccess& access)
    : allocations_(access.allocations()), pymalloc_(access.allocations().pymalloc()) {
    std::uint64_t blocks = 0;
    for (const Pool& pool : pymalloc_.pools()) {
        first_block_.push_back(blocks);
        blocks += pool.carved;
    }
    blocks_.assign(blocks / 64 + 1, 0);
    OwnBuffers buffers(*this);
    const TypeTable& table = access.heap().types();
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (i + ahead < addresses.size()) access.fetch_parts(addresses[i + ahead], table[types[i + ahead]]);
        const TypeInfo& type = table[types[i]];
        const Address start = addresses[i] - access.presize(addresses[i], type);
        add(start, pymalloc_.pool_at(start) ? 0 : access.requested(addresses[i], type));
        if (type.kind && type.kind->visit_buffers)
            type.kind->visit_buffers(ObjectReader(access.heap(), addresses[i], type), buffers);
        if (!(type.flags & managed_dict_flag)) continue;
        // Values in the place of a dict: in pymalloc's memory their block is known by any address in it.
        const Address values = values_apart(access.heap(), addresses[i]);
        if (!values.is_null() && pymalloc_.pool_at(values))
            add(values, 0);
        else if (!values.is_null())
            visit_instance_buffers(ObjectReader(access.heap(), addresses[i], type), buffers);
    }
    std::sort(ranges_.begin(), ranges_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    std::size_t kept = 0;
    for (const AddressRange& range : ranges_) {
        if (kept > 0 && range.start <= ranges_[kept - 1].end)
            ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, range.end);
        else
            ranges_[kept++] = range;
    }
    ranges_.resize(kept);
}

void OwnedMemory::add(Address start, std::uint64_t bytes) {
    if (const Pool* pool = pymalloc_.pool_at(start)) {
        const std::uint64_t offset =
            start - pool->start - std::min<std::uint64_t>(pymalloc_.header_size(), start - pool->start);
        const std::uint64_t block = offset / pool->block_size;
        if (block >= pool->carved) return;
        const std::uint64_t bit =
            first_block_[static_cast<std::size_t>(pool - pymalloc_.pools().data())] + block;
        blocks_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    } else if (bytes > 0) {
        // A length that lies must not take its neighbours' memory with it; a small one cannot take much.
        if (bytes > believed_bytes)
            if (const Allocations::Held held = allocations_.held(start, bytes); !held.whole)
                bytes = held.bytes;
        if (start + bytes > start) ranges_.push_back({start, start + bytes});
    }
}

}  // namespace heapsift
