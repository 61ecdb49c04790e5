#pragma once

// Which memory belongs to Python objects: their own blocks and the buffers that die with them. What is left
// is other people's.

#include "parsers/snapshot/object_access.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// Memory: a bit for each block of pymalloc, 16 bytes for each object or buffer elsewhere. Cost: 20 to 40
/// nanoseconds an object.
class OwnedMemory {
public:
    OwnedMemory(std::span<const Address> addresses, std::span<const TypeId> types,
                const ObjectAccess& access);

    /// Is the `block`-th block of the `pool`-th of pymalloc's pools an object's?
    bool owns_block(std::size_t pool, std::uint32_t block) const {
        const std::uint64_t bit = first_block_[pool] + block;
        return blocks_[bit / 64] >> (bit % 64) & 1;
    }
    /// Outside of pymalloc; sorted, no overlaps.
    const std::vector<AddressRange>& ranges() const { return ranges_; }

private:
    friend struct OwnBuffers;
    void add(Address start, std::uint64_t bytes);

    const Allocations& allocations_;
    const Pymalloc& pymalloc_;
    std::vector<std::uint64_t> first_block_;  // by pool
    std::vector<std::uint64_t> blocks_;
    std::vector<AddressRange> ranges_;
};

}  // namespace heapsift
