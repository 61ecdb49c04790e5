#pragma once

// Rows of some nodes that stand in place of others: a node's own targets, and more.

#include "analysis/graph/node.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// A bit for each node, and 4 bytes for each 64. Rows are added in order of nodes, between `begin` and `finish`.
class RowOverlay {
public:
    void begin(std::size_t nodes) {
        bits_.assign(nodes / 64 + 1, 0);
        starts_.clear();
        targets_.clear();
    }
    /// Then `add` its targets.
    void add_row(NodeId node) {
        bits_[node / 64] |= std::uint64_t{1} << (node % 64);
        starts_.push_back(targets_.size());
    }
    void add(NodeId target) { targets_.push_back(target); }
    void finish() {
        starts_.push_back(targets_.size());
        std::uint32_t rows = 0;
        before_.clear();
        for (const std::uint64_t word : bits_) {
            before_.push_back(rows);
            rows += static_cast<std::uint32_t>(std::popcount(word));
        }
    }

    bool empty() const { return targets_.empty(); }
    bool has(NodeId node) const { return bits_[node / 64] >> (node % 64) & 1; }
    /// For a node that has one.
    std::span<const std::uint32_t> row(NodeId node) const {
        const std::uint64_t lower = bits_[node / 64] & ((std::uint64_t{1} << (node % 64)) - 1);
        const std::size_t at = before_[node / 64] + static_cast<std::size_t>(std::popcount(lower));
        return {targets_.data() + starts_[at], targets_.data() + starts_[at + 1]};
    }

private:
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint32_t> before_;  // rows of the nodes before those of each word of bits
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> targets_;
};

}  // namespace heapsift
