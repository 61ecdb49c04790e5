#pragma once

// The nearest node above all members of a set in the dominator tree: without it none of them would be
// reachable.

#include "analysis/graph/dominators.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// Answers for one set after another; 4 bytes per node that the root reaches. Refers to `preorder`, and to
/// `tree`, which must be built from it: use it within one call.
class CommonDominatorFinder {
public:
    CommonDominatorFinder(const DominatorTree& tree, const Preorder& preorder);

    /// For one member its own dominator (`no_node` if it has none); for several the nearest node above all of
    /// them, which may be one of them. Members that the root does not reach are ignored; nothing if none of
    /// several is reached. Visits no node twice.
    std::optional<NodeId> of(std::span<const NodeId> members);

private:
    void add(NodeId node);
    NodeId own(NodeId node) const;

    const DominatorTree& tree_;
    const Preorder& preorder_;
    std::vector<std::uint32_t> mark_;  // by position: 2 * set in the first walk, one more in later ones
    std::uint32_t set_ = 0;
    std::uint32_t found_ = Preorder::none;
};

}  // namespace heapsift
