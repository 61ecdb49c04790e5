// A single node retains what it dominates. A set retains more than its members' sums: what two members hold
// together, neither dominates. It is all that the root no longer reaches once the set is gone: one walk. For
// many sets (the rows of a table) there is one walk for 64 of them: each node has a word in which bit k says
// that it is still reached without set k; words only gain bits, and spread until nothing changes, first in
// preorder, where one pass does nearly all.

#include "analysis/holding/retained.h"

#include "analysis/graph/search.h"

#include "parsers/snapshot/size_column.h"

#include <algorithm>
#include <bit>

namespace heapsift {
namespace {

constexpr std::uint32_t not_met = Preorder::none;
// Children of one node: to sort fewer anew costs nothing.
constexpr std::size_t worth_keeping = 1024;

}  // namespace

RetainedSizes retained_sizes(const HeapGraph& graph, const ProgressCallback& progress) {
    RetainedSizes retained;
    if (progress) progress("dominators", 0);
    retained.tree = DominatorTree::build(graph, graph.preorder());
    if (progress) progress("retained sizes", 0);
    retained.memory.assign(retained.tree.reached(), 0);
    const SizeColumn& sizes = *graph.columns().sizes;
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        retained.memory[graph.position(object)] = sizes.memory(object);
    retained.tree.add_up(retained.memory);
    return retained;
}

NodeId RetainedLookup::dominator(NodeId node) const {
    const std::uint32_t at = graph_.preorder().position(node);
    const std::uint32_t above = at == not_met ? not_met : tree().dominator(at);
    return above == not_met ? no_node : graph_.preorder().node_at(above);
}

std::uint64_t RetainedLookup::size(NodeId node) const {
    std::uint64_t total = 0;
    const SizeColumn& sizes = *graph_.columns().sizes;
    const Preorder& preorder = graph_.preorder();
    std::vector<bool> below(tree().reached());
    for (std::uint32_t p = preorder.position(node); p < tree().reached(); ++p) {
        below[p] =
            preorder.node_at(p) == node || (tree().dominator(p) != not_met && below[tree().dominator(p)]);
        if (!below[p] || graph_.kind(preorder.node_at(p)) != NodeKind::object) continue;
        const ObjectId object = graph_.object_of(preorder.node_at(p));
        const ObjectSizes one = sizes[object];
        // Part of a program, and never freed: a small int.
        if (one.memory > 0 || !graph_.heap().facts(object).immortal) total += one.size;
    }
    return total;
}

std::uint64_t RetainedLookup::count(NodeId node) const {
    std::uint64_t total = 0;
    const Preorder& preorder = graph_.preorder();
    std::vector<bool> below(tree().reached());
    for (std::uint32_t p = preorder.position(node); p < tree().reached(); ++p) {
        below[p] =
            preorder.node_at(p) == node || (tree().dominator(p) != not_met && below[tree().dominator(p)]);
        total += below[p] && graph_.kind(preorder.node_at(p)) == NodeKind::object;
    }
    return total;
}

void RetainedLookup::link_children() const {
    if (!first_child_.empty()) return;
    first_child_.assign(tree().reached(), not_met);
    next_sibling_.assign(tree().reached(), not_met);
    for (auto p = static_cast<std::uint32_t>(tree().reached()); p-- > 1;) {
        const std::uint32_t above = tree().dominator(p);
        next_sibling_[p] = first_child_[above];
        first_child_[above] = p;
    }
}

std::vector<NodeId> RetainedLookup::children(NodeId node) const {
    if (node == last_parent_) return last_children_;
    link_children();
    struct Child {
        std::uint64_t memory;
        NodeId node;
    };
    std::vector<Child> children;
    const Preorder& preorder = graph_.preorder();
    if (preorder.position(node) == not_met) return {};
    for (std::uint32_t p = first_child_[preorder.position(node)]; p != not_met; p = next_sibling_[p])
        children.push_back({sizes_.memory[p], preorder.node_at(p)});
    std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
        return a.memory != b.memory ? a.memory > b.memory : a.node < b.node;
    });
    std::vector<NodeId> result;
    result.reserve(children.size());
    for (const Child& child : children) result.push_back(child.node);
    if (result.size() >= worth_keeping) {
        last_parent_ = node;
        last_children_ = result;
    }
    return result;
}

NodeId RetainedLookup::largest_child(NodeId node) const {
    link_children();
    const Preorder& preorder = graph_.preorder();
    NodeId best;
    std::uint64_t most = 0;
    if (preorder.position(node) == not_met) return no_node;
    for (std::uint32_t p = first_child_[preorder.position(node)]; p != not_met; p = next_sibling_[p]) {
        const NodeId child = preorder.node_at(p);
        if (best != no_node && (sizes_.memory[p] < most || (sizes_.memory[p] == most && child > best)))
            continue;
        best = child;
        most = sizes_.memory[p];
    }
    return best;
}

NodeId RetainedLookup::child_towards(NodeId above, NodeId node) const {
    const Preorder& preorder = graph_.preorder();
    const std::uint32_t top = preorder.position(above);
    std::uint32_t at = preorder.position(node);
    // Dominators have smaller numbers.
    while (at != not_met && at > top) {
        const std::uint32_t next = tree().dominator(at);
        if (next == top) return preorder.node_at(at);
        at = next;
    }
    return no_node;
}

bool RetainedLookup::dominates(NodeId above, NodeId node) const {
    return above == node || child_towards(above, node) != no_node;
}

GroupId RetainedLookup::group(NodeId node) const {
    const NodeId top = node == graph_.root() ? no_node : child_towards(graph_.root(), node);
    return top != no_node && graph_.kind(top) == NodeKind::group ? graph_.group_of(top) : no_group;
}

namespace {

/// Bits of up to 64 sets for every node.
class ReachedWithout {
public:
    ReachedWithout(const HeapGraph& graph, std::int32_t first_set,
                   const std::function<std::int32_t(ObjectId)>& set_of)
        : graph_(graph), without_(graph.node_count(), 0), gone_(graph.object_count(), no_set) {
        for (ObjectId object{0}; object < graph.object_count(); ++object) {
            const std::int32_t set = set_of(object);
            if (set >= first_set && set < first_set + 64)
                gone_[object] = static_cast<std::uint8_t>(set - first_set);
        }
        const Preorder& preorder = graph.preorder();
        without_[graph.root()] = ~std::uint64_t{0};
        for (std::uint32_t p = 0; p < preorder.reached(); ++p) spread(preorder.node_at(p), p);
        while (!again_.empty()) {
            const NodeId node = again_.back();
            again_.pop_back();
            spread(node, not_met);
        }
    }
    /// The bit of set k: is the node reached without it?
    std::uint64_t operator[](NodeId node) const { return without_[node]; }

private:
    static constexpr std::uint8_t no_set = 64;

    /// What comes later in the first pass needs not be done again.
    void spread(NodeId node, std::uint32_t position) {
        const std::uint64_t bits = without_[node];
        for (const NodeId target : graph_.targets(node)) {
            const std::uint64_t allowed = target < gone_.size() && gone_[target] != no_set
                                              ? bits & ~(std::uint64_t{1} << gone_[target])
                                              : bits;
            if ((allowed & ~without_[target]) == 0 || !graph_.follows(node, target)) continue;
            without_[target] |= allowed;
            if (position == not_met || graph_.preorder().position(target) <= position)
                again_.push_back(target);
        }
    }

    const HeapGraph& graph_;
    std::vector<std::uint64_t> without_;  // by node
    std::vector<std::uint8_t> gone_;      // by object: in which set it is
    std::vector<NodeId> again_;
};

}  // namespace

std::vector<SetRetained> retained_by_sets(const HeapGraph& graph, std::size_t sets,
                                          const std::function<std::int32_t(ObjectId)>& set_of,
                                          const ProgressCallback& progress) {
    std::vector<SetRetained> result(sets);
    const SizeColumn& sizes = *graph.columns().sizes;
    for (std::size_t first = 0; first < sets; first += 64) {
        if (progress)
            progress("what each type retains", static_cast<double>(first) / static_cast<double>(sets));
        const ReachedWithout reached(graph, static_cast<std::int32_t>(first), set_of);
        const std::size_t count = std::min<std::size_t>(64, sets - first);
        const std::uint64_t asked = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
        for (ObjectId object{0}; object < graph.object_count(); ++object)
            for (std::uint64_t freed = ~reached[HeapGraph::node_of(object)] & asked; freed != 0;
                 freed &= freed - 1) {
                SetRetained& row = result[first + static_cast<std::size_t>(std::countr_zero(freed))];
                ++row.objects;
                row.memory += sizes.memory(object);
            }
    }
    return result;
}

std::vector<ObjectId> retained_by(const HeapGraph& graph, NodeRow members) {
    std::vector<bool> reached(graph.node_count());
    for (const NodeId member : members) reached[member] = true;  // as if: it is not entered
    SearchStack stack;
    search(
        graph, graph.root(), [&](NodeId node) { return reached[node]; },
        [&](NodeId node) { reached[node] = true; }, stack);
    for (const NodeId member : members) reached[member] = false;
    std::vector<ObjectId> result;
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        if (!reached[object]) result.push_back(object);
    return result;
}

}  // namespace heapsift
