#pragma once

// What belongs to Python objects: how large each is, and which memory is theirs: their own blocks and the
// buffers that die with them. What is left is other people's.

#include "parsers/base/passes.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/size_column.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// One pass over all objects. Memory: 4 bytes an object, a bit for each block of pymalloc, 16 bytes for each
/// object or buffer elsewhere. Cost: 30 to 60 nanoseconds an object.
class OwnedMemory {
public:
    OwnedMemory(std::span<const Address> addresses, std::span<const TypeId> types, const ObjectAccess& access,
                const ProgressCallback& progress = {});

    const SizeColumn& sizes() const { return sizes_; }

    /// Is the `block`-th block of the `pool`-th of pymalloc's pools an object's?
    bool owns_block(std::size_t pool, std::uint32_t block) const {
        const std::uint64_t bit = first_block_[pool] + block;
        return blocks_[bit / 64] >> (bit % 64) & 1;
    }
    /// Outside of pymalloc; sorted, no overlaps.
    const std::vector<AddressRange>& ranges() const { return ranges_; }
    /// Elements of arrays, wherever they lie; sorted, no overlaps.
    const std::vector<AddressRange>& array_data() const { return array_data_; }
    /// What was counted for objects and buffers outside of pymalloc, of malloc's heaps and of static data:
    /// whole blocks, where they are known. In order of objects.
    const std::vector<AddressRange>& elsewhere() const { return elsewhere_; }
    /// Blocks that two objects claim, or arrays.
    std::uint64_t overlaps() const { return overlaps_; }

    /// Hands them over; there are none then.
    std::vector<AddressRange> take_ranges() { return std::move(ranges_); }
    /// Keeps the sizes alone.
    void forget_places();
    bool places_known() const { return places_known_; }

private:
    friend struct OwnBuffers;
    void add_place(Address start, std::uint64_t bytes, const Allocations::Held& held);
    void add_pool_block(const Pool& pool, Address start);

    const Allocations& allocations_;
    const Pymalloc& pymalloc_;
    SizeColumn sizes_;
    std::vector<std::uint64_t> first_block_;  // by pool
    std::vector<std::uint64_t> blocks_;
    std::vector<AddressRange> ranges_, array_data_, elsewhere_;
    std::uint64_t overlaps_ = 0;
    bool places_known_ = true;
};

}  // namespace heapsift
