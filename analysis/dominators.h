#pragma once

// The dominator tree as a person reads it: groups, then what retains most below each, down to a depth.
//
// A tree of a million nodes is asked for by programs (`dominators --json`). In words a node has a kilobyte, so the tree is
// numbers (dominator_tree.h), and what is written down is put into words then, node by node.

#include "analysis/dominator_tree.h"
#include "analysis/object_paths.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct DominatorNode : DominatorTreeNode::Rest {
    NodeId node{0};
    std::optional<ObjectRow> object;  // nothing for a group or a frame
    std::string group;                // of a group or a frame; not escaped
    GroupKind group_kind = GroupKind::python;
    bool is_frame = false;
    ReferenceStep name;  // what its dominator calls it; not known where that does not refer to it itself
    std::string remark;  // "suspended in …"; not escaped
    PathExpression expression;  // of an object, where it has one; else root is empty
    std::uint64_t retained = 0;
    std::uint64_t native = 0;             // of it, blocks of C code
    ReferenceStep run_name;               // what each of a run calls the next
    std::string folded_type_name;         // not escaped
    std::vector<DominatorNode> children;  // by retained; empty where a tree is told node by node
};

/// A tree that was found, to be told node by node. It refers to the graph and the sizes.
class DominatorsAnswer {
public:
    /// `answers` may be null.
    DominatorsAnswer(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                     const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

    const DominatorTreeNode& top() const { return found_.top; }
    std::uint64_t total() const { return total_; }  // bytes of all objects
    std::uint64_t loose() const {
        return found_.loose;
    }  // bytes below the virtual root that no group holds alone
    /// Of the object asked for; empty without one.
    const std::string& group() const { return group_; }
    /// Of the first object below the top, in the order in which it is read, or of an example of what is held together and
    /// larger; null for none.
    Address next() const { return first_place(found_.top); }

    /// In words, without its children; and without what its dominator calls it.
    DominatorNode describe(const DominatorTreeNode& node) const;
    /// visit(child, its words) for each child of a node, with what the node calls it. Cost: what the node refers to, once.
    using Visit = std::function<void(const DominatorTreeNode& child, DominatorNode words)>;
    void visit_children(const DominatorTreeNode& node, const Visit& visit) const;

private:
    StepsBetween names_of(NodeId parent, std::span<const NodeId> children) const;
    ReferenceStep name_between(const StepsBetween& names, NodeId source, NodeId target) const;
    ReferenceStep shown_name(const StepsBetween& names, NodeId parent, NodeId child) const;
    std::optional<PathExpression> expression_of(ObjectId object) const;
    Address first_place(const DominatorTreeNode& node) const;

    const HeapGraph& graph_;
    RetainedLookup retained_;
    ModuleNodes modules_;
    ShownDominators found_;
    std::uint64_t total_ = 0;
    std::string group_;
    std::optional<ExpressionFinder> expressions_;
};

/// The same as a whole.
struct DominatorsResult {
    DominatorNode top;
    std::uint64_t total = 0;
    std::string group;
    Address next;
    std::uint64_t loose = 0;
};

/// `answers` may be null. For trees that are shown: a node has a kilobyte.
DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

}  // namespace heapsift
