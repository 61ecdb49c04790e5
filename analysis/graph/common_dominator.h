#pragma once

// The nearest node above all members of a set in the dominator tree: without it none of them would be
// reachable.

#include "analysis/graph/dominators.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// Asked of one set after another; 4 bytes a node that the root reaches. `tree`, of the nodes that `preorder`
/// met, and `preorder` are referred to: for the time of one call.
class CommonDominatorFinder {
public:
    CommonDominatorFinder(const DominatorTree& tree, const Preorder& preorder);

    /// Of one member its own dominator (`no_node` where it has none), of several the nearest node
    /// above all of them, which may be one of them. Members that the root does not reach do not count;
    /// nothing where none of several is reached. Walks over no node twice.
    std::optional<NodeId> of(std::span<const NodeId> members);

private:
    void add(NodeId node);
    NodeId own(NodeId node) const;

    const DominatorTree& tree_;
    const Preorder& preorder_;
    std::vector<std::uint32_t> mark_;  // by position: 2 * set of the first walk, one more of later ones
    std::uint32_t set_ = 0;
    std::uint32_t found_ = Preorder::none;
};

}  // namespace heapsift
