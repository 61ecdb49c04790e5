// Groups are the top of the tree; what several of them hold stands below a row of its own. A module, its dict
// and its name are one row: the module's. A run (a linked list: each node dominates the next) is its first
// and its last node and how many are between.

#include "analysis/dominator_tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_joint_entries = 5, most_shared_entries = 1000;
constexpr int least_run = 3;

bool is_thread(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::thread;
}

void flatten(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node, bool own_module,
             std::uint64_t least, std::vector<NodeId>& result) {
    for (const NodeId child : retained.children(node, least)) {
        const bool module = own_module && modules.is_module(child);
        if (module || (modules.is_module(node) && modules.is_dict(child)))
            flatten(retained, modules, child, false, least, result);
        else
            result.push_back(child);
    }
}

}  // namespace

std::vector<NodeId> shown_children(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node,
                                   std::uint64_t least) {
    const HeapGraph& graph = retained.graph();
    std::vector<NodeId> result;
    const bool module_group = is_module_group(graph, node);
    flatten(retained, modules, node, module_group, std::max<std::uint64_t>(least, 1), result);
    if (node == graph.root()) std::erase_if(result, [&](NodeId child) { return is_object(graph, child); });
    if (!module_group && !modules.is_module(node)) return result;  // sorted as they are
    std::stable_sort(result.begin(), result.end(),
                     [&](NodeId a, NodeId b) { return retained.memory(a) > retained.memory(b); });
    return result;
}

namespace {

/// Bytes and count.
using FoldedByType = std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>;

std::vector<DominatorTreeNode::FoldedType> largest_folded(const FoldedByType& by_type) {
    constexpr std::size_t most_folded_types = 8;
    std::vector<DominatorTreeNode::FoldedType> all;
    for (const auto& [type, sum] : by_type)
        if (TypeId(type) != no_type && sum.first > 0) all.push_back({TypeId(type), sum.second, sum.first});
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tie(b.retained, a.type) < std::tie(a.retained, b.type);
    });
    if (all.size() > most_folded_types) all.resize(most_folded_types);
    return all;
}

/// Finds which nodes are shown; their words come later.
class TreeBuilder {
public:
    TreeBuilder(const RetainedLookup& retained, JointHolderFinder& joint_holders,
                const DominatorsQuery& query)
        : retained_(retained),
          graph_(retained.graph()),
          heap_(graph_.heap()),
          modules_(graph_),
          joint_holders_(joint_holders),
          query_(query) {}

    DominatorTreeNode build(NodeId top) {
        DominatorTreeNode made = node(top);
        grow(made, 0, 0);
        return made;
    }

private:
    DominatorTreeNode node(NodeId id) const {
        DominatorTreeNode made;
        made.node = id;
        made.retained = retained_.memory(id);
        made.native = retained_.native(id);
        return made;
    }

    /// The node that goes on a run from `id`: of the same type, one or two steps (by a __dict__) below it,
    /// and most of what it retains.
    NodeId next_in_run(NodeId id) const {
        if (!is_object(graph_, id)) return no_node;
        const TypeId type = columns().type_of(graph_.object_of(id));
        NodeId at = id;
        for (int steps = 0; steps < 2; ++steps) {
            at = retained_.largest_child(at);
            if (at == no_node || !is_object(graph_, at)) return no_node;
            if (retained_.memory(at) * 2 < retained_.memory(id)) return no_node;
            if (columns().type_of(graph_.object_of(at)) == type) return at;
        }
        return no_node;
    }

    /// `alike`: so many of those above have nearly all of the one above them, and count as one level with it. A tree
    /// has at most most_alike levels more than were asked for.
    void grow(DominatorTreeNode& parent, std::size_t depth, std::size_t alike) {
        std::vector<NodeId> all = shown_children(retained_, modules_, parent.node);
        if (depth < query_.depth && parent.node != graph_.root() && !all.empty()) {
            const std::uint64_t worth = std::max<std::uint64_t>({query_.least, parent.retained / 50, 1});
            std::vector<JointHolders> joint = joint_holders_.find(parent.node, worth, most_joint_entries);
            std::unordered_set<NodeId> together;
            for (const JointHolders& one : joint) together.insert(one.members.begin(), one.members.end());
            std::erase_if(all, [&](NodeId child) { return together.contains(child); });
            if (!joint.empty()) parent.add_rest().joint = std::move(joint);
        }
        std::vector<NodeId> given;
        FoldedByType folded;
        for (const NodeId child : all) {
            const bool fits = retained_.memory(child) >= query_.least;
            if (depth >= query_.depth || !fits || (query_.limit != 0 && given.size() >= query_.limit)) {
                add_folded(child, parent.add_rest(), folded);
                continue;
            }
            given.push_back(child);
        }
        if (!folded.empty()) add_folded_types(folded, parent.add_rest());
        parent.children.reserve(given.size());  // there may be a million
        for (const NodeId child : given) {
            DominatorTreeNode made = node(child);
            add_run(made);
            parent.children.push_back(std::move(made));
        }
        if (depth >= query_.depth) return;
        constexpr std::size_t most_alike = 16;
        for (DominatorTreeNode& child : parent.children) {
            const bool goes_on = parent.children.size() == 1 && alike < most_alike &&
                                 is_object(graph_, parent.node) &&
                                 child.retained + parent.retained / 50 >= parent.retained;
            grow(child, goes_on ? depth : depth + 1, alike + goes_on);
        }
    }

    void add_folded(NodeId child, DominatorTreeNode::Rest& rest, FoldedByType& folded) const {
        ++rest.folded;
        rest.folded_retained += retained_.memory(child);
        if (is_object(graph_, child)) {
            auto& [bytes, count] = folded[std::uint32_t{columns().type_of(graph_.object_of(child))}];
            bytes += retained_.memory(child);
            ++count;
        } else if (is_thread(graph_, child)) {
            ++rest.folded_threads;
            rest.folded_threads_retained += retained_.memory(child);
        }
    }

    static void add_folded_types(const FoldedByType& folded, DominatorTreeNode::Rest& rest) {
        for (const auto& [type, sum] : folded)
            if (sum.first * 10 >= rest.folded_retained * 9 && TypeId(type) != no_type) {
                rest.folded_type = TypeId(type);
                rest.folded_of_type = sum.second;
                rest.folded_of_type_retained = sum.first;
            }
        rest.folded_types = largest_folded(folded);
    }

    /// Goes on to the last of a run; what is between is only counted.
    void add_run(DominatorTreeNode& first) {
        std::uint64_t count = 0;
        NodeId last = first.node;
        for (NodeId next = next_in_run(last); next != no_node; next = next_in_run(last)) {
            last = next;
            ++count;
        }
        if (count < least_run) return;
        DominatorTreeNode::Rest& rest = first.add_rest();
        rest.run = count;
        rest.run_next = next_in_run(first.node);
        rest.run_end = last;
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    ModuleNodes modules_;
    JointHolderFinder& joint_holders_;
    const DominatorsQuery& query_;
};

}  // namespace

std::vector<NodeId> shared_by_groups(const RetainedLookup& retained) {
    std::vector<NodeId> result;
    for (const NodeId child : retained.children(retained.graph().root()))
        if (is_object(retained.graph(), child)) result.push_back(child);
    return result;
}

namespace {

/// As it is kept.
struct KeptDominators : ShownDominators {
    std::size_t rows() const { return rows_below(top); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        node_fields(self.top, part, graph, 0);
        part.number(self.loose);
    }

private:
    static std::size_t rows_below(const DominatorTreeNode& node) {
        std::size_t rows = 1;
        for (const DominatorTreeNode& child : node.children) rows += rows_below(child);
        return rows;
    }

    static const DominatorTreeNode::Rest& rest_of(const DominatorTreeNode& node) { return node.rest(); }
    static DominatorTreeNode::Rest& rest_of(DominatorTreeNode& node) { return node.add_rest(); }

    template <class Node, class Part>
    static void node_fields(Node& node, Part& part, const HeapGraph& graph, std::size_t depth) {
        part.require(depth <= deepest, "a tree is too deep");
        auto& rest = rest_of(node);
        for (auto* id : {&node.node, &rest.run_next, &rest.run_end}) {
            part.number(*id);
            part.require(*id < graph.node_count(), "a number is no node's");
        }
        for (auto* number : {&node.retained, &node.native, &rest.run, &rest.folded, &rest.folded_retained})
            part.number(*number);
        kept_type(rest.folded_type, part, graph.heap());
        for (auto* number : {&rest.folded_of_type, &rest.folded_of_type_retained}) part.number(*number);
        part.list(rest.folded_types, [&](auto& one, Part& p) {
            kept_type(one.type, p, graph.heap());
            p.number(one.count);
            p.number(one.retained);
        });
        for (auto* number : {&rest.folded_threads, &rest.folded_threads_retained}) part.number(*number);
        part.require(rest.run == 0 || (is_object(graph, node.node) && is_object(graph, rest.run_next)),
                     "a run is not of objects");
        part.list(rest.joint, [&](auto& joint, Part& p) {
            joint_holders_fields(joint, p, graph);
            if constexpr (Part::reading) describe(joint, graph);
        });
        part.list(node.children, [&](auto& child, Part& p) { node_fields(child, p, graph, depth + 1); });
    }

    static constexpr std::size_t deepest = 1000;
};

KeptDominators find_tree(const RetainedLookup& retained, const DominatorsQuery& query) {
    const HeapGraph& graph = retained.graph();
    KeptDominators found;
    std::uint64_t count_shared = 0;
    const std::vector<NodeId> all_shared = shared_by_groups(retained);
    for (const NodeId object : all_shared) {
        found.loose += retained.memory(object);
        ++count_shared;
    }
    JointHolderFinder joint_holders(retained);
    TreeBuilder builder(retained, joint_holders, query);
    found.top = builder.build(query.object ? graph.node_of(*query.object) : graph.root());
    if (query.object || found.loose < std::max<std::uint64_t>(query.least, 1)) return found;
    DominatorTreeNode shared;  // the virtual root below itself
    shared.node = graph.root();
    shared.retained = found.loose;
    DominatorTreeNode::Rest& rest = shared.add_rest();
    rest.joint = joint_holders.find(graph.root(), std::max<std::uint64_t>(query.least, found.loose / 50),
                                    query.limit == 0 ? most_shared_entries : query.limit);
    rest.folded = count_shared;
    rest.folded_retained = found.loose;
    std::unordered_set<NodeId> together;
    for (const JointHolders& joint : rest.joint) {
        rest.folded -= joint.members.size();
        rest.folded_retained -= joint.joint;
        together.insert(joint.members.begin(), joint.members.end());
    }
    FoldedByType folded;
    for (const NodeId node : all_shared) {
        if (together.contains(node)) continue;
        auto& [bytes, count] = folded[std::uint32_t{graph.columns().type_of(HeapGraph::object_of(node))}];
        bytes += retained.memory(node);
        ++count;
    }
    rest.folded_types = largest_folded(folded);
    const auto place = std::find_if(found.top.children.begin(), found.top.children.end(),
                                    [&](const DominatorTreeNode& n) { return n.retained < shared.retained; });
    found.top.children.insert(place, std::move(shared));
    return found;
}

KeptQuestion question_about_tree(const DominatorsQuery& query) {
    auto question = KeptQuestion("dominators").with(query.depth).with(query.limit).with(query.least);
    if (query.object) question.with(std::uint32_t{*query.object});
    return question;
}

}  // namespace

ShownDominators find_dominators(const RetainedLookup& retained, const DominatorsQuery& query,
                                KeptAnswers* answers) {
    return kept_answer(answers, question_about_tree(query), retained.graph(),
                       [&] { return find_tree(retained, query); });
}

}  // namespace heapsift
