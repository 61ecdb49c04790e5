#pragma once

// The graph in which paths, dominators and components are found: the objects of a heap, the references that
// are followed, and above them what keeps them alive: one virtual root, the groups below it, and the frames
// of threads. With native memory, blocks of C code are nodes as well. (The policy: heap_graph.cpp.)

#include "analysis/graph/node.h"
#include "analysis/graph/preorder.h"
#include "analysis/graph/row_overlay.h"
#include "analysis/graph/source_rows.h"
#include "analysis/holding/groups.h"
#include "analysis/holding/structural_references.h"
#include "parsers/base/zeroed_array.h"
#include "parsers/snapshot/reference_graph.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// The nodes of a heap's graph: objects keep their own numbers; blocks of C code, the virtual root, groups and
/// frames follow.
enum class NodeKind : std::uint8_t { object, block, root, group, frame };

/// Why an object is alive.
enum class Reach : std::uint8_t {
    unreachable,  // nothing keeps it alive
    // reached from a root that the interpreter names, or from a word of C code that was found; or it is
    // immortal
    named,
    // reached only from references that were not found, although its or another's count includes them
    held
};

class IndexFile;
class PartWriter;

class HeapGraph {
public:
    /// For a heap with references and roots; `heap` must outlive it. Cost: 30 to 110 ns and 12 bytes per
    /// object.
    /// With an index that keeps the walk over all objects, only the groups are found anew.
    explicit HeapGraph(const HeapReader& heap, const ProgressCallback& progress = {},
                       IndexFile* index = nullptr);

    /// What was walked, as a part of an index.
    static constexpr const char* part_name = "walk";
    void write_walk(PartWriter& part) const;

    const HeapReader& heap() const { return heap_; }
    const HeapSnapshot& columns() const { return heap_.snapshot(); }
    const RootSet& root_set() const { return root_set_; }
    const Groups& groups() const { return groups_; }
    const StructuralTargets& structural() const { return structural_; }

    std::size_t node_count() const { return root() + extra_targets_.size(); }
    std::size_t object_count() const { return object_count_; }
    /// 0 without native memory.
    std::size_t block_count() const { return native_ ? native_->size() : 0; }
    /// What a node refers to, with multiplicity; `follows` tells which of these count.
    NodeRow targets(NodeId node) const {
        if (node >= root()) return NodeRow(std::span<const NodeId>(extra_targets_[node - root()]));
        if (!overlay_.empty() && overlay_.has(node)) return NodeRow(overlay_.row(node));
        if (node < object_count_) return NodeRow(references_.targets(object_of(node)));
        return NodeRow(native_->targets(block_of(node)));
    }
    /// Prefetches what `targets` will read.
    void fetch_row(NodeId node) const {
        if (node < object_count_) references_.fetch_row(object_of(node));
    }
    /// The same for an object; the targets are objects.
    std::span<const ObjectId> targets(ObjectId object) const { return references_.targets(object); }
    /// False for a reference to what everything refers to in the end (StructuralTargets), and for one from an
    /// unreachable object to one that is reachable.
    bool follows(NodeId source, NodeId target) const {
        return follows(source, preorder_.position(source), target, preorder_.position(target));
    }
    /// The same, if their positions in the preorder are at hand.
    bool follows(NodeId source, std::uint32_t source_position, NodeId target,
                 std::uint32_t target_position) const {
        if (source < object_count_ && is_structural(target) && !is_owner(source, target)) return false;
        return source_position < first_unreachable_ || target_position >= first_unreachable_;
    }
    bool follows(ObjectId source, ObjectId target) const { return follows(node_of(source), node_of(target)); }
    /// Whether it is one of StructuralTargets::listed.
    bool is_structural(ObjectId object) const { return is_structural(node_of(object)); }
    /// Everything the virtual root reaches; that includes every object, below a group.
    const Preorder& preorder() const { return preorder_; }
    /// The edges that are followed, by position: made when first asked for, and kept for the next who asks.
    /// Not thread-safe.
    const SourceRows& sources() const;
    /// Frees these rows: for who takes much memory and has no use for them.
    void give_up_sources() const { sources_.reset(); }
    /// The object's position in the preorder.
    std::uint32_t position(ObjectId object) const { return preorder_.position(node_of(object)); }

    static NodeId node_of(ObjectId object) { return NodeId(std::uint32_t{object}); }
    /// `node` must be an object.
    static ObjectId object_of(NodeId node) { return ObjectId(std::uint32_t{node}); }
    NodeId root() const { return root_; }
    NodeKind kind(NodeId node) const {
        return node < object_count_  ? NodeKind::object
               : node < root()       ? NodeKind::block
               : node == root()      ? NodeKind::root
               : node < first_frame_ ? NodeKind::group
                                     : NodeKind::frame;
    }
    GroupId group_of(NodeId node) const { return GroupId(node - root() - 1); }
    NodeId node_of(GroupId group) const { return NodeId(root() + 1 + group); }
    /// `node` must be a block.
    BlockId block_of(NodeId node) const { return BlockId(node - object_count_); }
    NodeId node_of(BlockId block) const { return NodeId(object_count_ + block); }
    /// The blocks; null without native memory.
    const NativeGraph* native() const { return native_; }
    struct FrameNode {
        std::int32_t thread, frame;
    };
    FrameNode frame_of(NodeId node) const { return frames_[node - first_frame_]; }
    const PythonFrame& frame(const FrameNode& at) const {
        return root_set_.threads()[static_cast<std::size_t>(at.thread)]
            .frames[static_cast<std::size_t>(at.frame)];
    }

    Reach reach(ObjectId object) const {
        const std::uint32_t at = position(object);
        return at >= first_unreachable_                         ? Reach::unreachable
               : at >= first_held_ && at < first_immortal_only_ ? Reach::held
                                                                : Reach::named;
    }
    std::uint64_t unreachable_count() const { return unreachable_count_; }
    GroupId unreachable_group() const { return groups_.unreachable; }

    struct PlacedRoot {
        Root root;
        NodeId parent;           // the group or frame that it hangs below
        NodeId block = no_node;  // of C code whose word it is, and below which it hangs instead
    };
    /// Sorted by object.
    const std::vector<PlacedRoot>& roots() const { return roots_; }
    /// All roots of one object.
    std::span<const PlacedRoot> roots_of(ObjectId object) const;

private:
    template <class Self, class Part>
    static void walk_fields(Self& self, Part& part);
    bool read_walk(IndexFile& index);
    std::vector<NodeId>& below(GroupId group) { return extra_targets_[node_of(group) - root()]; }
    const std::vector<NodeId>& below(GroupId group) const { return extra_targets_[node_of(group) - root()]; }
    void place_roots();
    void sort_roots();
    void place_native(GroupFinder& groups);
    void make_nodes();
    void overlay_rows();
    void add_left_blocks();
    void add_held();
    std::vector<ObjectId> waiting_greenlets() const;
    void add_immortal();
    void add_unreachable();
    void hang(GroupId group, const std::vector<ObjectId>& objects);  // below the virtual root
    bool met(ObjectId object) const { return position(object) != Preorder::none; }
    /// For an object. (Objects refer only to objects: ask first whether a source is one.)
    bool is_structural(NodeId object) const { return structural_bits_[object / 64] >> (object % 64) & 1; }
    /// True for a root of the kinds that hold structural targets.
    static bool is_own_root(const Root& root);
    /// True if a structural target belongs to `source`.
    bool is_owner(NodeId source, NodeId target) const;

    const HeapReader& heap_;
    const ReferenceGraph& references_;
    const RootSet& root_set_;
    StructuralTargets structural_;
    Groups groups_;
    const NativeGraph* native_;  // null: none
    std::size_t object_count_;
    NodeId root_, first_frame_{0};
    RowOverlay overlay_;  // objects that own blocks, and blocks that hold objects
    struct NativeEntry {
        NodeId block;
        GroupId group;
    };
    std::vector<NativeEntry> native_entries_;
    std::vector<NativeGraph::Held> held_;             // by block; until there are rows
    std::vector<std::vector<NodeId>> extra_targets_;  // by node, from the root on
    std::vector<FrameNode> frames_;
    ZeroedArray<std::uint64_t> structural_bits_;     // by node
    std::vector<std::pair<NodeId, NodeId>> owners_;  // StructuralTargets::owners; sorted
    std::vector<PlacedRoot> roots_;
    Preorder preorder_{0};
    std::uint32_t first_held_ = Preorder::none, first_immortal_only_ = Preorder::none,
                  first_unreachable_ = Preorder::none;
    std::uint64_t unreachable_count_ = 0;
    mutable std::optional<SourceRows> sources_;
};

}  // namespace heapsift
