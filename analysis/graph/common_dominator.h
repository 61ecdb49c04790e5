#pragma once

// The nearest node above all members of a set in the dominator tree: without it none of them would be
// reachable.

#include "analysis/graph/retained.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// Asked of one set after another; 4 bytes a node that a root reaches, which `retained` outlives.
class CommonDominator {
public:
    explicit CommonDominator(const RetainedSizes& retained);

    /// Of one member its own dominator, of several the nearest node above all of them, which may be one of
    /// them. Members that no root reaches do not count; nothing where none is reached. Walks over no node
    /// twice.
    std::optional<NodeId> of(std::span<const ObjectId> members);

private:
    void add(NodeId node);

    const RetainedSizes& retained_;
    std::vector<std::uint32_t> mark_;  // by position: 2 * set of the first walk, one more of later ones
    std::uint32_t set_ = 0;
    std::uint32_t found_;
};

}  // namespace heapsift
