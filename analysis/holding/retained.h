#pragma once

// What would come free: retained sizes of single nodes by the dominator tree, and of sets. Blocks of C code count
// with what owns them; who goes through the tree meets objects, groups and frames alone.

#include "analysis/graph/dominators.h"
#include "analysis/holding/heap_graph.h"
#include "parsers/base/ranked_column.h"
#include "parsers/base/ranked_set.h"
#include "parsers/base/sparse_column.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// The dominator tree of a heap, and what each node retains: columns by position in HeapGraph::preorder, to
/// which they refer. Some 4 bytes a node, and with native memory 4 for each that has some below it.
struct RetainedSizes {
    DominatorTree tree;
    RankedColumn memory;  // bytes: RetainedLookup::memory
    SparseColumn native;  // bytes: RetainedLookup::native; empty without native memory

    /// As a part of an index (parsers/index/part.h), for the nodes of that preorder.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, const Preorder& preorder, bool native) {
        const std::size_t reached = preorder.reached();
        DominatorTree::fields(self.tree, part, preorder);
        RankedColumn::fields(self.memory, part, reached);
        SparseColumn::fields(self.native, part, native ? reached : 0);
    }
};

/// Some 65 ns an object, 100 in a heap that has aged. The graph keeps its rows (HeapGraph::sources).
RetainedSizes retained_sizes(const HeapGraph& graph, const ProgressCallback& progress = {});

/// What is asked of these columns by node. It refers to what it was made of: for the time of one call.
class RetainedLookup {
public:
    RetainedLookup(const HeapGraph& graph, const RetainedSizes& sizes) : graph_(graph), sizes_(sizes) {}

    const HeapGraph& graph() const { return graph_; }
    const DominatorTree& tree() const { return sizes_.tree; }
    /// Bytes of memory (ObjectSizes::memory, and blocks of C code) that would come free with the node: its own,
    /// and of all that it dominates. 0 for a group or a frame that has nothing.
    std::uint64_t memory(NodeId node) const {
        const std::uint32_t at = graph_.preorder().position(node);
        return at == Preorder::none ? 0 : sizes_.memory[at];
    }
    std::uint64_t memory(ObjectId object) const { return memory(HeapGraph::node_of(object)); }
    std::uint64_t memory_at(std::uint32_t position) const { return sizes_.memory[position]; }
    /// The part of `memory` that is blocks of C code.
    std::uint64_t native(NodeId node) const {
        const std::uint32_t at = graph_.preorder().position(node);
        return at == Preorder::none || sizes_.native.empty() ? 0 : sizes_.native[at];
    }
    std::uint64_t native(ObjectId object) const { return native(HeapGraph::node_of(object)); }
    /// That of the blocks that the node dominates and no other node that is not a block, below it. The first call
    /// makes lists.
    std::uint64_t own_native(NodeId node) const;
    /// These blocks: visit(position), in ascending order. The first call makes a list: 8 bytes a block.
    template <class F>
    void visit_own_blocks(NodeId node, F&& visit) const;
    /// The same of ObjectSizes::size. One pass over what is reached through the node.
    std::uint64_t size(NodeId node) const;
    /// No block; the virtual root for what several groups share; of the virtual root it is `no_node`.
    NodeId dominator(NodeId node) const;
    NodeId dominator(ObjectId object) const { return dominator(HeapGraph::node_of(object)); }
    /// What it dominates immediately, as far as that retains at least `least` bytes; by memory, then by
    /// number. The first call makes lists: some 6 bytes a node.
    std::vector<NodeId> children(NodeId node, std::uint64_t least = 0) const;
    /// The same without order: visit(child).
    template <class F>
    void visit_children(NodeId node, F&& visit) const;
    /// The same by position: visit(position), in ascending order, which is quicker where there are many.
    template <class F>
    void visit_children_at(NodeId node, F&& visit) const;
    /// What it dominates, itself left out: visit(child, node), where `child` is the one of its children that
    /// dominates `node`, or is it. Each comes after what dominates it. Some 10 ns a node.
    template <class F>
    void visit_dominated(NodeId above, F&& visit) const;
    /// The first of them; `no_node` for a leaf.
    NodeId largest_child(NodeId node) const;
    /// Frees the lists that the calls above made: the next one makes them anew.
    void give_up_children() const;
    /// The objects that it dominates, itself included; in preorder. One pass over what is reached through it.
    std::vector<ObjectId> dominated(NodeId node) const;
    /// Objects that it dominates, itself included.
    std::uint64_t count(NodeId node) const;
    std::uint64_t count(ObjectId object) const { return count(HeapGraph::node_of(object)); }
    /// The group that holds it alone, `no_group` where several do.
    GroupId group(NodeId node) const;
    GroupId group(ObjectId object) const { return group(HeapGraph::node_of(object)); }
    /// Of the nodes that `above` dominates immediately, the one that dominates `node` (or is it);
    /// `no_node` where `above` does not dominate it, or is it.
    NodeId child_towards(NodeId above, NodeId node) const;
    bool dominates(NodeId above, NodeId node) const;
    bool dominates(ObjectId above, ObjectId object) const {
        return dominates(HeapGraph::node_of(above), HeapGraph::node_of(object));
    }

private:
    void link_children() const;
    void list_own_blocks() const;
    /// True once the lists are there: else `scan_children` finds those of one node, as long as few are asked for.
    bool are_linked() const;
    /// visit(position) for each child of the node at `above`, no block, in ascending order. Some 2 ns for each node that
    /// the preorder has below it.
    template <class F>
    void scan_children(std::uint32_t above, F&& visit) const;
    std::uint32_t first_child(std::uint32_t position) const {
        return parents_.has(position) ? first_child_[parents_.rank(position)] : Preorder::none;
    }
    bool is_block(std::uint32_t position) const {
        return graph_.block_count() > 0 &&
               graph_.kind(graph_.preorder().node_at(position)) == NodeKind::block;
    }
    /// visit(object) for each object that the node dominates, itself included; in preorder.
    template <class F>
    void visit_dominated_objects(NodeId node, F&& visit) const;

    const HeapGraph& graph_;
    const RetainedSizes& sizes_;
    mutable RankedSet parents_;                        // positions of what has children; none is a block
    mutable std::vector<std::uint32_t> first_child_;   // by place among the parents
    mutable std::vector<std::uint32_t> next_sibling_;  // by position
    mutable std::unordered_map<std::uint32_t, std::uint64_t> own_native_;  // by position
    struct OwnBlock {
        std::uint32_t owner, block;  // positions
        auto operator<=>(const OwnBlock&) const = default;
    };
    mutable std::vector<OwnBlock> own_blocks_;  // sorted
    mutable std::uint64_t scanned_ = 0;         // nodes that `scan_children` has looked at
    // Many children, sorted, of the node that was asked for last: a search comes back to it.
    mutable NodeId last_parent_;
    mutable std::vector<NodeId> last_children_;
};

template <class F>
void RetainedLookup::visit_own_blocks(NodeId node, F&& visit) const {
    if (native(node) == 0) return;
    list_own_blocks();
    const std::uint32_t owner = graph_.preorder().position(node);
    for (auto one = std::lower_bound(own_blocks_.begin(), own_blocks_.end(), OwnBlock{owner, 0});
         one != own_blocks_.end() && one->owner == owner; ++one)
        visit(one->block);
}

template <class F>
void RetainedLookup::visit_children(NodeId node, F&& visit) const {
    visit_children_at(node, [&](std::uint32_t position) { visit(graph_.preorder().node_at(position)); });
}

template <class F>
void RetainedLookup::visit_children_at(NodeId node, F&& visit) const {
    const std::uint32_t above = graph_.preorder().position(node);
    if (above == Preorder::none) return;
    if (!are_linked()) return scan_children(above, visit);
    for (std::uint32_t p = first_child(above); p != Preorder::none; p = next_sibling_[p]) visit(p);
}

// What a node dominates was met in the walk while that was still at the node: the next ones in the preorder.
template <class F>
void RetainedLookup::scan_children(std::uint32_t above, F&& visit) const {
    graph_.give_up_sources();  // who goes down the tree has walked before, if at all
    const std::span<const std::uint32_t> parents = graph_.preorder().parents();
    for (std::uint32_t p = above + 1; p < parents.size() && parents[p] >= above; ++p) {
        ++scanned_;
        std::uint32_t owner = tree().dominator(p);
        while (owner != above && owner != Preorder::none && is_block(owner)) owner = tree().dominator(owner);
        if (owner == above && !is_block(p)) visit(p);
    }
}

template <class F>
void RetainedLookup::visit_dominated(NodeId above, F&& visit) const {
    link_children();
    const Preorder& preorder = graph_.preorder();
    const std::uint32_t top = preorder.position(above);
    if (top == Preorder::none) return;
    std::vector<std::uint32_t> way;  // from the child down
    for (std::uint32_t child = first_child(top); child != Preorder::none; child = next_sibling_[child]) {
        way.assign(1, child);
        while (!way.empty()) {
            const std::uint32_t at = way.back();
            visit(preorder.node_at(child), preorder.node_at(at));
            if (const std::uint32_t below = first_child(at); below != Preorder::none) {
                way.push_back(below);
                continue;
            }
            while (way.size() > 1 && next_sibling_[way.back()] == Preorder::none) way.pop_back();
            if (way.size() == 1) break;
            way.back() = next_sibling_[way.back()];
        }
    }
}

/// What a set of objects retains.
struct SetRetained {
    std::uint64_t objects = 0, memory = 0;  // members included, nothing counted twice
    std::uint64_t native = 0;               // of it, blocks of C code
};

/// Of many sets at once: `set_of(object)` is the number of the set that it is in, or -1; an object is in one
/// set at most. Some 15 to 25 ns an object for each 64 sets, and a byte a node, 8 more for each that leads to
/// another. The graph keeps its rows.
std::vector<SetRetained> retained_by_sets(const HeapGraph& graph, std::size_t sets,
                                          const std::function<std::int32_t(ObjectId)>& set_of,
                                          const ProgressCallback& progress = {});

/// What would come free with `members`.
struct RetainedSet {
    std::vector<ObjectId> objects;  // by id; with the members
    std::uint64_t native = 0;       // bytes of blocks of C code
};
/// One walk over all that stays.
RetainedSet retained_by(const HeapGraph& graph, NodeRow members);
/// The same of objects alone, or of nodes of any kind.
template <class I>
RetainedSet retained_by(const HeapGraph& graph, const std::vector<I>& members) {
    return retained_by(graph, NodeRow(std::span<const I>(members)));
}

}  // namespace heapsift
