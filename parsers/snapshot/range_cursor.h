#pragma once

#include "parsers/base/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

/// Sorted ranges without overlaps, compared with others in address order. Refers to them.
class RangeCursor {
public:
    explicit RangeCursor(const std::vector<AddressRange>& ranges) : ranges_(ranges) {}

    /// How many bytes of `block` lie in the ranges.
    std::uint64_t bytes_in(const AddressRange& block) {
        skip_to(block.start);
        std::uint64_t bytes = 0;
        for (std::size_t i = next_; i < ranges_.size() && ranges_[i].start < block.end; ++i)
            bytes += std::min(ranges_[i].end, block.end) - std::max(ranges_[i].start, block.start);
        return bytes;
    }
    /// True if a range covers one of the first bytes of `block`, at most `lead` after its start.
    bool begins(const AddressRange& block, std::uint64_t lead) {
        skip_to(block.start);
        return next_ < ranges_.size() && ranges_[next_].start <= block.start + lead &&
               ranges_[next_].start < block.end;
    }

private:
    void skip_to(Address start) {
        while (next_ < ranges_.size() && ranges_[next_].end <= start) ++next_;
    }

    const std::vector<AddressRange>& ranges_;
    std::size_t next_ = 0;
};

}  // namespace heapsift
