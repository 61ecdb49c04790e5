#pragma once

// Who owns each mapped byte. (region_map.cpp says how overlapping claims are settled.)

#include "parsers/base/address.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// In order of precedence: if two claim a byte, the first of these has it.
enum class MemoryOwner : std::uint8_t {
    reserved,     // never touched, whoever it was given to
    array_data,   // elements of arrays
    objects,      // objects' blocks and buffers
    c_code,       // blocks in use, but not by objects
    free,         // kept by an allocator for the next request
    headers,      // between blocks: headers and padding
    zeros,        // pages of zeros that nobody was given: perhaps never touched
    zero_blocks,  // pages of zeros in large blocks of C code and of arrays: perhaps never touched
    files,        // of programs and libraries: what is the same in all processes
    module_data,  // what programs and libraries have written to
    stacks,
    data_files,  // what can be written of mapped files that are no programs; memory shared with other processes
    not_saved,  // no known owner, and not in the core
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
    /// `mapped` in any order; bytes that overlap count once, for the range that begins first.
    explicit RegionMap(std::vector<AddressRange> mapped);

    /// Gives `owner` what lies in the range, except for divided parts and what an owner of higher precedence
    /// claims. In any order, of any length; unmapped bytes do not count.
    void claim(MemoryOwner owner, AddressRange range);
    /// For an allocator with many blocks: says how much of its memory belongs to whom, not where. The bytes
    /// that `shares` leaves are headers, and how many these are is returned. Takes precedence over all claims.
    /// `shares` is at most the mapped bytes of `range`, which must not overlap a part divided before, and lies
    /// in one region if it is to be attributed rightly.
    std::uint64_t divide(AddressRange range, const MemoryShares& shares);
    /// The mapped bytes of a range.
    std::uint64_t mapped_bytes(AddressRange range) const;
    /// What was mapped, region by region, by address; without overlaps.
    const std::vector<AddressRange>& regions() const { return regions_; }

    /// What each owner has; adds up to the mapped bytes. Cost: sorting the claims, and one pass over them.
    MemoryShares shares();
    /// The same for each of `regions()`. Known after a call of `shares`.
    const std::vector<MemoryShares>& by_region() const { return of_regions_; }
    /// Impossible claims of one owner on the same bytes: array data of two arrays, a block of two objects.
    /// Known after a call of `shares`.
    std::uint64_t overlaps() const { return overlaps_; }
    std::uint64_t mapped_bytes() const { return mapped_bytes_; }

private:
    /// By its index; as many as there are regions if the range is not mapped.
    std::size_t first_region_in(const AddressRange& range) const;

    std::vector<AddressRange> regions_, mapped_;  // sorted, no overlaps; of mapped_, none touches the next
    std::vector<AddressRange> divided_;
    std::array<std::vector<AddressRange>, memory_owners> claims_;
    MemoryShares of_divided_;
    std::vector<MemoryShares> divided_of_regions_, of_regions_;
    std::uint64_t mapped_bytes_ = 0;
    std::uint64_t overlaps_ = 0;
};

/// Sorts, and joins ranges that overlap or touch; returns how many of them overlap an earlier one. Ranges
/// that are empty or end before they begin are dropped.
std::uint64_t join_ranges(std::vector<AddressRange>& ranges);

}  // namespace heapsift
