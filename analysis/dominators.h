#pragma once

// The dominator tree as a person reads it: groups, then what retains most below each, down to a depth. (What
// is folded and what is joint: dominators.cpp.)

#include "analysis/holding/retained.h"
#include "analysis/object_row.h"
#include "analysis/path_expression.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct JointHolders {
    std::vector<ObjectRow> holders;           // brief; empty where the holders are groups
    std::vector<std::string> groups;          // not escaped
    std::vector<PathExpression> expressions;  // of `holders`, where they have one
    std::string type;                         // of what they hold
    std::uint64_t count = 0;                  // objects of that type that they hold together
    std::uint64_t retained = 0;               // by the holders as a set
    std::uint64_t joint = 0;                  // of it, by what they hold together: bytes
    std::vector<NodeId> members;              // what they hold together
};

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
    std::uint64_t run = 0;   // so many more of its type hang below it, one below the other; 0 for none
    ReferenceStep run_name;  // what each of them calls the next
    NodeId run_end{0};       // the last of them
    std::vector<DominatorNode> children;            // by retained
    std::uint64_t folded = 0, folded_retained = 0;  // children that are not given
    std::vector<JointHolders> joint;                // by retained
};

struct DominatorsQuery {
    std::optional<ObjectId> object;  // nothing: all, from the groups on
    std::size_t depth = 3;
    std::size_t limit = 20;   // children of a node; 0: all
    std::uint64_t least = 0;  // bytes that a child must retain
};

struct DominatorsResult {
    DominatorNode top;
    std::uint64_t total = 0;  // bytes of all objects
    std::string group;        // of the object asked for
    std::uint64_t loose = 0;  // bytes below the virtual root that no group holds alone
};

DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress = {});

/// The children of a node as they are shown: modules and their dicts are left out, and theirs are there in
/// their place.
std::vector<NodeId> shown_children(const RetainedLookup& retained, NodeId node);

/// What several children of `node`, or of a module or dict that is shown as one with it, hold together: at
/// most `most` entries, those of the largest sums.
std::vector<JointHolders> joint_holders(const RetainedLookup& retained, NodeId node, std::uint64_t least,
                                        std::size_t most);

/// What is shared by several groups: children of the virtual root that are objects.
std::vector<NodeId> shared_by_groups(const RetainedLookup& retained);

}  // namespace heapsift
