#pragma once

// Who owns each byte that is mapped. (How claims that overlap are settled: region_map.cpp.)

#include "parsers/base/address.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// In the order of precedence: where two claim a byte, the first of these has it.
enum class MemoryOwner : std::uint8_t {
    array_data,  // elements of arrays
    objects,     // objects' own blocks, and their buffers
    c_code,      // blocks in use that are no object's
    free,        // kept by an allocator for the next request
    headers,     // between blocks: headers and padding
    files,       // programs, libraries and their data
    stacks,
    not_saved,  // nobody's that is known, and not in the core
    other
};
inline constexpr std::size_t memory_owners = static_cast<std::size_t>(MemoryOwner::other) + 1;

/// Bytes by owner.
class MemoryShares {
public:
    std::uint64_t& operator[](MemoryOwner owner) { return bytes_[static_cast<std::size_t>(owner)]; }
    std::uint64_t operator[](MemoryOwner owner) const { return bytes_[static_cast<std::size_t>(owner)]; }
    std::uint64_t sum() const;
    void add(const MemoryShares& more);

private:
    std::array<std::uint64_t, memory_owners> bytes_{};
};

class RegionMap {
public:
    /// `mapped` in any order; what overlaps in it is one byte all the same.
    explicit RegionMap(std::vector<AddressRange> mapped);

    /// What lies in it and in no part that was divided before is the owner's, unless one that goes before
    /// claims it too. In any order, of any length; what is not mapped counts for nothing.
    void claim(MemoryOwner owner, AddressRange range);
    /// An allocator's memory, whose blocks are many: how much of it is whose, not where. What the shares
    /// leave of it are headers. Before all claims in precedence; `shares` is no more than the mapped bytes of
    /// `range`, which overlaps no part that was divided before.
    void divide(AddressRange range, const MemoryShares& shares);
    /// Mapped bytes of a range.
    std::uint64_t mapped_bytes(AddressRange range) const;

    /// Whose all of it is: adds up to the mapped bytes. Cost: sorting the claims, and one pass over them.
    MemoryShares shares();
    /// Claims of the same owner for the same bytes, where that cannot be: array data by two arrays, a block
    /// by two objects. Known once `shares` was called.
    std::uint64_t overlaps() const { return overlaps_; }
    std::uint64_t mapped_bytes() const { return mapped_bytes_; }

private:
    std::vector<AddressRange> mapped_;   // sorted, no overlaps
    std::vector<AddressRange> divided_;  // sorted, no overlaps
    std::array<std::vector<AddressRange>, memory_owners> claims_;
    MemoryShares of_divided_;
    std::uint64_t mapped_bytes_ = 0;
    std::uint64_t overlaps_ = 0;
};

/// Sorts, and joins what overlaps or touches; returns how many of them overlap an earlier one. Empty ranges
/// and those that end before they begin are dropped.
std::uint64_t join_ranges(std::vector<AddressRange>& ranges);

}  // namespace heapsift
