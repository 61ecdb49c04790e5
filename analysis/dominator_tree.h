#pragma once

// Which nodes of the dominator tree are shown, and what is folded: numbers alone, 60 bytes a node, so that a tree of a
// million fits. Their words: dominators.h. (What is folded and what is joint: dominator_tree.cpp.)

#include "analysis/joint_holders.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

inline bool is_object(const HeapGraph& graph, NodeId node) { return graph.kind(node) == NodeKind::object; }

struct DominatorsQuery {
    std::optional<ObjectId> object = std::nullopt;  // nothing: all, from the groups on
    std::size_t depth = 3;    // a child that has nearly all of its parent counts as one with it
    std::size_t limit = 20;   // children of a node; 0: all
    std::uint64_t least = 0;  // bytes that a child must retain
};

struct DominatorTreeNode {
    struct FoldedType {
        TypeId type = no_type;
        std::uint64_t count = 0, retained = 0;
        std::string name = {};  // in words (dominators.h); not escaped
    };
    /// What few nodes have.
    struct Rest {
        std::uint64_t run = 0;  // so many more of its type hang below it, one below the other; 0 for none
        NodeId run_next{0};     // the first of these
        NodeId run_end{0};      // the last of them
        std::uint64_t folded = 0, folded_retained = 0;  // children that are not given
        // Of these the type that has most, if it has nine tenths of their bytes, and how many are of it
        TypeId folded_type = no_type;
        std::uint64_t folded_of_type = 0, folded_of_type_retained = 0;
        std::vector<FoldedType>
            folded_types;  // of the objects among them, those of most bytes first; at most eight
        std::uint64_t folded_threads = 0,
                      folded_threads_retained = 0;  // of what is folded, groups that are threads
        std::vector<JointHolders> joint;            // by retained
    };

    NodeId node{0};
    std::uint64_t retained = 0;
    std::uint64_t native = 0;                 // of it, blocks of C code
    std::vector<DominatorTreeNode> children;  // by retained

    const Rest& rest() const {
        static const Rest none;
        return rest_ ? *rest_ : none;
    }
    Rest& add_rest() {
        if (!rest_) rest_ = std::make_unique<Rest>();
        return *rest_;
    }

private:
    std::unique_ptr<Rest> rest_;
};

struct ShownDominators {
    DominatorTreeNode top;
    std::uint64_t loose = 0;  // bytes below the virtual root that no group holds alone
};

/// The tree that `query` asks for. The virtual root stands once more below itself for what several groups share.
/// `answers` may be null. Cost: what the nodes above the shown ones dominate, once.
ShownDominators find_dominators(const RetainedLookup& retained, const DominatorsQuery& query,
                                KeptAnswers* answers);

/// The children of a node as they are shown: modules and their dicts are left out, and theirs are there in
/// their place. Those that retain at least `least` bytes, and one, largest first: what retains nothing lies in a
/// program's own file (small integers, types of C), and nothing keeps it alive.
std::vector<NodeId> shown_children(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node,
                                   std::uint64_t least = 0);

/// visit(child) for all of them, and maybe for some that retain nothing, in any order; for a node other than the virtual root.
template <class F>
void visit_shown_children(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node,
                          F&& visit) {
    if (is_module_group(retained.graph(), node) || modules.is_module(node))
        for (const NodeId child : shown_children(retained, modules, node)) visit(child);
    else
        retained.visit_children(node, visit);
}

/// What is shared by several groups: children of the virtual root that are objects.
std::vector<NodeId> shared_by_groups(const RetainedLookup& retained);

}  // namespace heapsift
