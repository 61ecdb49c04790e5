#pragma once

// What several objects hold together, and none of them alone. (How they are found: joint_holders.cpp.)

#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"
#include "analysis/module_nodes.h"
#include "analysis/object_row.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct JointHolders {
    std::vector<NodeId> by;    // the holders: objects, groups and frames
    TypeId content = no_type;  // of most of what they hold
    // In words, by `describe`:
    std::vector<ObjectRow> holders;           // brief; empty where the holders are groups
    std::vector<std::string> groups;          // not escaped
    bool begins_with_held = false;            // the first of both is the group of what was not found
    std::vector<PathExpression> expressions;  // of `holders`, where they have one
    std::string type;                         // `content`
    std::uint64_t count = 0;                  // objects of that type that they hold together
    std::uint64_t retained = 0;               // by the holders as a set
    std::uint64_t joint = 0;                  // of it, by what they hold together: bytes
    std::vector<NodeId> members;              // what they hold together
};

/// Fills in the words.
void describe(JointHolders& joint, const HeapGraph& graph);

/// All but the words and the members, to be kept (analysis/kept_answers.h).
template <class Joint, class Part>
void joint_holders_fields(Joint& joint, Part& part, const HeapGraph& graph) {
    part.list(joint.by, [&](auto& node, Part& p) {
        p.number(node);
        p.require(node < graph.node_count(), "a number is no node's");
    });
    kept_type(joint.content, part, graph.heap());
    for (auto* number : {&joint.count, &joint.retained, &joint.joint}) part.number(*number);
}

/// Finds them below one node after another. It refers to what it asks: for the time of one call. 5 bytes a
/// node.
class JointHolderFinder {
public:
    explicit JointHolderFinder(const RetainedLookup& retained);

    /// What several children of `node`, or of a module or dict that is shown as one with it, hold together:
    /// at most `most` entries of at least `least` bytes, those of the largest sums. Some 30 to 100 ns for
    /// each object that `node` dominates, where its children have that much together, else for each child.
    std::vector<JointHolders> find(NodeId node, std::uint64_t least, std::size_t most);

private:
    struct Part;

    std::vector<JointHolders> below(NodeId node, std::uint64_t least, std::size_t most);
    void gather_joint_children(NodeId node);
    void gather_holders(NodeId node);
    std::vector<Part> parts();
    std::vector<JointHolders> rows(NodeId node, std::uint64_t least, std::size_t most);
    JointHolders row(NodeId node, const std::vector<NodeId>& holders, const Part& part);
    std::uint64_t retained_together(NodeId node, const std::vector<NodeId>& holders);
    std::uint32_t leader(std::uint32_t child);
    void join(std::uint32_t a, std::uint32_t b);

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    ModuleNodes modules_;
    // Of the node that is being looked at:
    std::vector<NodeId> children_;              // the joint ones, by number
    std::vector<std::vector<NodeId>> holders_;  // of each, without order, the last of them once
    std::vector<std::uint32_t> leaders_;        // of each, one that it goes with; itself where there is none
    // By node; between two questions as they were made.
    std::vector<std::uint32_t> numbers_;  // of a joint child: its place in children_
    std::vector<std::uint8_t> open_;      // may be entered: it is dominated, and was not reached yet
};

}  // namespace heapsift
