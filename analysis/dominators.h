#pragma once

// The dominator tree as a person reads it: groups, then what retains most below each, down to a depth. (What
// is folded and what is joint: dominators.cpp.)

#include "analysis/joint_holders.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct DominatorNode {
    NodeId node{0};
    std::optional<ObjectRow> object;  // nothing for a group or a frame
    std::string group;                // of a group or a frame; not escaped
    GroupKind group_kind = GroupKind::python;
    bool is_frame = false;
    ReferenceStep name;  // what its dominator calls it; not known where that does not refer to it itself
    std::string remark;  // "suspended in …"; not escaped
    PathExpression expression;  // of an object, where it has one; else root is empty
    std::uint64_t retained = 0;
    std::uint64_t native = 0;  // of it, blocks of C code
    std::uint64_t run = 0;     // so many more of its type hang below it, one below the other; 0 for none
    NodeId run_next{0};        // the first of these
    ReferenceStep run_name;    // what each of them calls the next
    NodeId run_end{0};         // the last of them
    std::vector<DominatorNode> children;            // by retained
    std::uint64_t folded = 0, folded_retained = 0;  // children that are not given
    // Of these the type that has most, if it has nine tenths of their bytes, and how many are of it
    TypeId folded_type = no_type;
    std::uint64_t folded_of_type = 0, folded_of_type_retained = 0;
    std::string folded_type_name;  // not escaped
    struct FoldedType {
        TypeId type = no_type;
        std::uint64_t count = 0, retained = 0;
        std::string name = {};  // not escaped
    };
    std::vector<FoldedType> folded_types =
        {};  // of the objects among them, those of most bytes first; at most eight
    std::uint64_t folded_threads = 0,
                  folded_threads_retained = 0;  // of what is folded, groups that are threads
    std::vector<JointHolders> joint;            // by retained
};

struct DominatorsQuery {
    std::optional<ObjectId> object = std::nullopt;  // nothing: all, from the groups on
    std::size_t depth = 3;    // a child that has nearly all of its parent counts as one with it
    std::size_t limit = 20;   // children of a node; 0: all
    std::uint64_t least = 0;  // bytes that a child must retain
};

struct DominatorsResult {
    DominatorNode top;
    std::uint64_t total = 0;  // bytes of all objects
    std::string group;        // of the object asked for
    // Of the first object below the top, in the order in which it is read, or of an example of what is held together and
    // larger; null for none
    Address next;
    std::uint64_t loose = 0;  // bytes below the virtual root that no group holds alone
};

/// `answers` may be null.
DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

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
