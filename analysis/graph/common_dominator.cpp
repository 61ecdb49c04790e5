// The nearest common ancestor of many nodes. The walk up from the first node is marked; each other node walks
// up until it meets a mark. The highest place where such a walk meets the first one is the ancestor. Each set
// has its own number, so marks need not be cleared.

#include "analysis/graph/common_dominator.h"

#include <algorithm>

namespace heapsift {

CommonDominatorFinder::CommonDominatorFinder(const DominatorTree& tree, const Preorder& preorder)
    : tree_(tree), preorder_(preorder), mark_(tree.reached(), 0) {}

NodeId CommonDominatorFinder::own(NodeId node) const {
    const std::uint32_t at = preorder_.position(node);
    const std::uint32_t above = at == Preorder::none ? Preorder::none : tree_.dominator(at);
    return above == Preorder::none ? no_node : preorder_.node_at(above);
}

std::optional<NodeId> CommonDominatorFinder::of(std::span<const NodeId> members) {
    if (members.size() == 1) return own(members.front());
    ++set_;
    found_ = Preorder::none;
    for (const NodeId member : members) add(member);
    if (found_ == Preorder::none) return std::nullopt;
    return preorder_.node_at(found_);
}

void CommonDominatorFinder::add(NodeId node) {
    const std::uint32_t at = preorder_.position(node);
    if (at == Preorder::none) return;
    std::uint32_t p = at;
    for (; p != Preorder::none && mark_[p] < 2 * set_; p = tree_.dominator(p))
        mark_[p] = 2 * set_ + (found_ != Preorder::none);
    if (found_ == Preorder::none) {
        found_ = at;
        return;
    }
    // Below what was met, the walk ran beside the first one; a mark of a later walk leads to a place that has
    // been taken into account already.
    if (p != Preorder::none && mark_[p] == 2 * set_) found_ = std::min(found_, p);
}

}  // namespace heapsift
