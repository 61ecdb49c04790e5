#pragma once

// What belongs to Python objects: how large each is, and which memory is theirs: their own blocks and the
// buffers that die with them. What is left is other people's.

#include "parsers/base/progress.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/size_column.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// Which memory is Python objects'. A bit for each block of pymalloc, 16 bytes for each object or buffer
/// elsewhere.
class OwnedPlaces {
public:
    /// Is the `block`-th block of the `pool`-th of pymalloc's pools an object's?
    bool owns_block(std::size_t pool, std::uint32_t block) const {
        const std::uint64_t bit = first_block_[pool] + block;
        return blocks_[bit / 64] >> (bit % 64) & 1;
    }
    /// Outside of pymalloc; sorted, no overlaps.
    const std::vector<AddressRange>& ranges() const { return ranges_; }
    /// Hands them over; there are none then.
    std::vector<AddressRange> take_ranges() { return std::move(ranges_); }

    // What only `measure_objects` finds:
    /// Elements of arrays, wherever they lie; sorted, no overlaps.
    const std::vector<AddressRange>& array_data() const { return array_data_; }
    /// What was counted for objects and buffers outside of pymalloc, of malloc's heaps and of static data:
    /// whole blocks, where they are known. In order of objects.
    const std::vector<AddressRange>& elsewhere() const { return elsewhere_; }
    /// Blocks that two objects claim, or arrays.
    std::uint64_t overlaps() const { return overlaps_; }

private:
    friend class PlaceCollector;
    std::vector<std::uint64_t> first_block_;  // by pool
    std::vector<std::uint64_t> blocks_;
    std::vector<AddressRange> ranges_, array_data_, elsewhere_;
    std::uint64_t overlaps_ = 0;
};

struct OwnedMemory {
    SizeColumn sizes;
    OwnedPlaces places;
};

/// One pass over all objects: 30 to 60 nanoseconds an object.
OwnedMemory measure_objects(const FoundObjects& objects, const ObjectAccess& access,
                            const ProgressCallback& progress = {});

/// The places alone, as far as they tell whose a word is. An object in a block of pymalloc's need not be
/// measured for that: 10 to 20 nanoseconds an object.
OwnedPlaces find_places(const FoundObjects& objects, const ObjectAccess& access,
                        const ProgressCallback& progress = {});

}  // namespace heapsift
