#include "parsers/snapshot/owned_memory.h"

#include "parsers/memory/region_map.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t believed_bytes = 512;

}  // namespace

struct OwnBuffers final : PlaceVisitor {
    explicit OwnBuffers(OwnedMemory& m) : memory(m) {}
    void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) override {
        if (const Pool* pool = memory.pymalloc_.pool_at(start))
            memory.add_pool_block(*pool, start);
        else if (bytes > 0)
            memory.add_place(start, bytes, held);
        if (role != Role::array_data) return;
        const std::uint64_t there = held.whole ? bytes : std::min(bytes, held.bytes);
        if (there > 0 && start + there > start) memory.array_data_.push_back({start, start + there});
    }
    OwnedMemory& memory;
};

OwnedMemory::OwnedMemory(std::span<const Address> addresses, std::span<const TypeId> types,
                         const ObjectAccess& access, const ProgressCallback& progress)
    : allocations_(access.allocations()), pymalloc_(access.allocations().pymalloc()) {
    std::uint64_t blocks = 0;
    for (const Pool& pool : pymalloc_.pools()) {
        first_block_.push_back(blocks);
        blocks += pool.carved;
    }
    blocks_.assign(blocks / 64 + 1, 0);
    sizes_.reserve(addresses.size());
    OwnBuffers buffers(*this);
    const TypeTable& table = access.heap().types();
    constexpr std::size_t ahead = 16, stride = 1 << 20;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (progress && i % stride == 0)
            progress("sizes", static_cast<double>(i) / static_cast<double>(addresses.size()));
        if (i + ahead < addresses.size()) access.fetch_parts(addresses[i + ahead], table[types[i + ahead]]);
        sizes_.add(access.sizes(addresses[i], table[types[i]], &buffers));
    }
    join_ranges(ranges_);
    ranges_.shrink_to_fit();
    overlaps_ += join_ranges(array_data_);
}

void OwnedMemory::add_pool_block(const Pool& pool, Address start) {
    const std::uint64_t offset =
        start - pool.start - std::min<std::uint64_t>(pymalloc_.header_size(), start - pool.start);
    const std::uint64_t block = offset / pool.block_size;
    if (block >= pool.carved) return;
    const std::uint64_t at = first_block_[static_cast<std::size_t>(&pool - pymalloc_.pools().data())] + block;
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    overlaps_ += blocks_[at / 64] & bit ? 1 : 0;
    blocks_[at / 64] |= bit;
}

void OwnedMemory::add_place(Address start, std::uint64_t bytes, const Allocations::Held& held) {
    if (held.bytes > 0 && !allocations_.in_divided_memory(start) && start + held.bytes > start)
        elsewhere_.push_back({start, start + held.bytes});
    // A length that lies must not take its neighbours' memory with it; a small one cannot take much.
    if (bytes > believed_bytes && (!held.whole || held.bytes < bytes))
        if (const Allocations::Held real = allocations_.held(start, bytes); !real.whole) bytes = real.bytes;
    if (start + bytes > start) ranges_.push_back({start, start + bytes});
}

void OwnedMemory::forget_places() {
    first_block_ = {};
    blocks_ = {};
    ranges_ = array_data_ = elsewhere_ = {};
    places_known_ = false;
}

}  // namespace heapsift
