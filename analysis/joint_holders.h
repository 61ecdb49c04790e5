#pragma once

// What several objects hold together, and none of them alone: objects, and blocks of C code. (How they are found: joint_holders.cpp.)

#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"
#include "analysis/module_nodes.h"
#include "analysis/object_row.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct JointHolders {
    std::vector<NodeId> by;      // the holders: objects, groups and frames; what holds weakly in truth last
    TypeId content = no_type;    // of what they hold; `no_type`: objects of `types` types, most of none
    bool native = false;         // blocks of C code: then it has no type, and no sample
    NodeId block;                // native: of the largest of these
    std::vector<NodeId> sample;  // of what they hold together, at most 64, of that type
    // In words, by `describe`:
    std::vector<ObjectRow> holders;           // brief; empty where the holders are groups
    std::vector<std::string> groups;          // not escaped
    bool begins_with_held = false;            // the first of both is the group of what was not found
    std::vector<PathExpression> expressions;  // of `holders`, where they have one
    std::string type;                         // `content`; empty for several types
    Address example;  // of `sample`, or where `block` begins; null if there is neither
    std::uint64_t count =
        0;  // objects of that type that they hold together; or blocks, with what these lead to
    std::uint64_t types = 1;      // of these objects
    std::uint64_t retained = 0;   // by the holders as a set
    std::uint64_t joint = 0;      // of it, by what they hold together: bytes
    std::vector<NodeId> members;  // what they hold together
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
    part.number(joint.native);
    part.number(joint.block);
    part.require(!joint.native || (joint.block < graph.root() && joint.block >= graph.object_count()),
                 "what is held jointly is no block");
    part.list(joint.sample, [&](auto& node, Part& p) {
        p.number(node);
        p.require(node < graph.object_count(), "a number is no object's");
    });
    for (auto* number : {&joint.count, &joint.types, &joint.retained, &joint.joint}) part.number(*number);
}

/// Finds them below one node after another. It refers to what it asks: for the time of one call. 3 bits a
/// node.
class JointHolderFinder {
public:
    /// Of more nobody can tell who holds it.
    static constexpr std::size_t most_holders_told = 64;

    explicit JointHolderFinder(const RetainedLookup& retained);

    /// What several children of `node`, or of a module or dict that is shown as one with it, hold together:
    /// at most `most` entries of at least `least` bytes, those of the largest sums, each of one type and with at
    /// most `most_holders_told`. Some 30 to 100 ns for each object that `node` dominates, where its children
    /// have that much together, else for each child. With `mixed`, also what is held together and of several types, of
    /// which none has most: one entry more, of at least so many bytes; 0: none.
    std::vector<JointHolders> find(NodeId node, std::uint64_t least, std::size_t most,
                                   std::uint64_t mixed = 0);

private:
    struct Part;

    /// Numbers of some nodes, in their order. 2 bits for each node of the graph.
    class Numbers {
    public:
        explicit Numbers(std::size_t node_count) : words_(node_count / 32 + 1) {}

        bool has(NodeId node) const { return words_[node / 32].bits >> (node % 32) & 1; }
        void add(NodeId node) { words_[node / 32].bits |= std::uint32_t{1} << (node % 32); }
        void remove(NodeId node) { words_[node / 32].bits &= ~(std::uint32_t{1} << (node % 32)); }
        /// Once these, which ascend, are all that were added and not removed.
        void finish(const std::vector<NodeId>& nodes);
        /// Its place among them.
        std::uint32_t operator[](NodeId node) const;

    private:
        struct Word {
            std::uint32_t bits = 0, before = 0;
        };
        std::vector<Word> words_;
    };

    /// Sets of a few nodes, each kept once, under a number: a million joint children have one of a few.
    class Sets {
    public:
        static constexpr std::uint32_t none = 0;      // the empty set
        static constexpr std::uint32_t too_many = 1;  // stands for every set of more than most_holders_told

        std::uint32_t single(NodeId node);
        std::uint32_t united(std::uint32_t a, std::uint32_t b);
        /// Sorted. `too_many` has none.
        const std::vector<NodeId>& nodes(std::uint32_t set) const { return sets_[set]; }

    private:
        static constexpr std::size_t most_sets = 200'000;  // what would be more is `too_many`

        std::vector<std::vector<NodeId>> sets_ = std::vector<std::vector<NodeId>>(2);
        std::map<NodeId, std::uint32_t> singles_;
        std::map<std::vector<NodeId>, std::uint32_t> numbers_;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> unions_;
    };

    void gather_own_blocks(NodeId node);
    NodeId block_entry(std::uint32_t position) const;
    NodeId entry_of(NodeId child) const;
    /// visit(entry, below) for each node that `node` dominates, blocks too: `entry` is the one that dominates it of those
    /// that nothing but `node` dominates. It may be a block.
    template <class F>
    void visit_below(NodeId node, F&& visit) const;
    std::vector<JointHolders> below(NodeId node, std::uint64_t least, std::size_t most, std::uint64_t mixed);
    void gather_joint_children(NodeId node);
    void gather_holders(NodeId node);
    bool holds_as_itself(std::uint32_t child, std::uint32_t holders) const;
    void pass_on(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& between);
    std::vector<Part> parts() const;
    std::vector<Part> mixed_parts(const std::vector<Part>& of_types) const;
    std::vector<JointHolders> rows(NodeId node, std::uint64_t least, std::size_t most, std::uint64_t mixed);
    bool is_session(NodeId holder) const;
    JointHolders row(NodeId node, const std::vector<NodeId>& holders, const Part& part);
    std::uint64_t retained_together(NodeId node, const std::vector<NodeId>& holders);

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    ModuleNodes modules_;
    // Of the node that is being looked at:
    std::vector<std::uint32_t> own_blocks_;  // RetainedLookup::visit_own_blocks
    std::vector<NodeId> block_entries_;      // of each: what `visit_below` calls its entry
    std::vector<NodeId> children_;           // the joint ones, by number
    std::vector<std::uint32_t> holders_;     // of each: a number of `sets_`
    std::vector<bool> named_;                // of each: a global of a module of the program
    Sets sets_;
    // By node; between two questions as they were made.
    Numbers numbers_;         // of a joint child: its place in children_
    std::vector<bool> open_;  // may be entered: it is dominated, and was not reached yet
};

}  // namespace heapsift
