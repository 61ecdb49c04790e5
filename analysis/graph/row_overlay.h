#pragma once

// Rows of some nodes that stand in place of others: a node's own targets, and more.

#include "analysis/graph/node.h"
#include "parsers/base/zeroed_array.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// A bit for each node, and 4 bytes for each 64; only those near a row are ever touched. Rows are added in order of nodes,
/// between `begin` and `finish`.
class RowOverlay {
public:
    void begin(std::size_t nodes) {
        bits_ = ZeroedArray<std::uint64_t>(nodes / 64 + 1);
        before_ = ZeroedArray<std::uint32_t>(nodes / 64 + 1);
        starts_.clear();
        targets_.clear();
    }
    /// Then `add` its targets.
    void add_row(NodeId node) {
        std::uint64_t& word = bits_[node / 64];
        if (word == 0) before_[node / 64] = static_cast<std::uint32_t>(starts_.size());
        word |= std::uint64_t{1} << (node % 64);
        starts_.push_back(targets_.size());
    }
    void add(NodeId target) { targets_.push_back(target); }
    void finish() { starts_.push_back(targets_.size()); }

    bool empty() const { return targets_.empty(); }
    bool has(NodeId node) const { return bits_[node / 64] >> (node % 64) & 1; }
    /// For a node that has one.
    std::span<const std::uint32_t> row(NodeId node) const {
        const std::uint64_t lower = bits_[node / 64] & ((std::uint64_t{1} << (node % 64)) - 1);
        const std::size_t at = before_[node / 64] + static_cast<std::size_t>(std::popcount(lower));
        return {targets_.data() + starts_[at], targets_.data() + starts_[at + 1]};
    }

private:
    ZeroedArray<std::uint64_t> bits_;
    ZeroedArray<std::uint32_t> before_;  // rows of the nodes before those of each word of bits that has any
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> targets_;
};

}  // namespace heapsift
