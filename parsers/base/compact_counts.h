#pragma once

// Counts while they are counted, most of them small: a byte each. What exceeds it is carried to a table, so
// that the table is asked once in 256 times; who reads asks it only near a number that it has.

#include "parsers/base/compact_column.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

class CompactCounts {
public:
    explicit CompactCounts(std::size_t count = 0) : low_(count), carried_(count / near + 1) {}

    void fetch(std::size_t at) const { __builtin_prefetch(&low_[at], 1); }
    void increment(std::size_t at) {
        if (++low_[at] != 0) return;
        ++high_[at];
        carried_[at / near] = true;
    }
    /// Not below 0.
    void decrement(std::size_t at) {
        if (low_[at]-- == 0) --high_[at];
    }
    std::uint64_t operator[](std::size_t at) const {
        if (!carried_[at / near]) return low_[at];
        const auto carried = high_.find(at);
        return low_[at] + (carried == high_.end() ? 0 : carried->second * 256);
    }

    /// The counts for good; this is empty afterwards.
    CompactColumn<std::uint8_t> finish() {
        std::vector<std::pair<std::size_t, std::uint64_t>> carried(high_.begin(), high_.end());
        std::sort(carried.begin(), carried.end());
        auto next = carried.begin();
        CompactColumn<std::uint8_t>::Builder column;
        column.reserve(low_.size());
        for (std::size_t at = 0; at < low_.size(); ++at) {
            const bool is_carried = next != carried.end() && next->first == at;
            column.push_back(low_[at] + (is_carried ? (next++)->second * 256 : 0));
        }
        low_ = std::vector<std::uint8_t>();
        high_.clear();
        carried_.clear();
        return column.finish();
    }

private:
    static constexpr std::size_t near = 64;
    std::vector<std::uint8_t> low_;
    std::vector<bool> carried_;  // of so many neighbours: whether `high_` may have one
    std::unordered_map<std::size_t, std::uint64_t> high_;  // in units of 256
};

}  // namespace heapsift
