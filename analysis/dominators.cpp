// Groups are the top of the tree; what several of them hold stands below a row of its own. A module, its dict
// and its name are one row: the module's. A run (a linked list: each node dominates the next) is its first
// and its last node and how many are between.

#include "analysis/dominators.h"

#include "analysis/object_paths.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_joint_entries = 5, most_shared_entries = 1000;
constexpr int least_run = 3;

bool is_object(const HeapGraph& graph, NodeId node) { return graph.kind(node) == NodeKind::object; }
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

std::vector<DominatorNode::FoldedType> largest_folded(const FoldedByType& by_type) {
    constexpr std::size_t most_folded_types = 8;
    std::vector<DominatorNode::FoldedType> all;
    for (const auto& [type, sum] : by_type)
        if (TypeId(type) != no_type && sum.first > 0) all.push_back({TypeId(type), sum.second, sum.first});
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::tie(b.retained, a.type) < std::tie(a.retained, b.type);
    });
    if (all.size() > most_folded_types) all.resize(most_folded_types);
    return all;
}

/// Puts a tree that was found into words.
class TreeWords {
public:
    explicit TreeWords(const RetainedLookup& retained)
        : retained_(retained), graph_(retained.graph()), heap_(graph_.heap()), modules_(graph_) {}

    /// Of a node and all below it, but what its dominator calls it.
    void describe(DominatorNode& node) {
        describe_node(node);
        if (node.folded_type != no_type)
            node.folded_type_name = type_name(graph_.columns().types, node.folded_type);
        for (DominatorNode::FoldedType& one : node.folded_types)
            one.name = type_name(graph_.columns().types, one.type);
        std::vector<NodeId> children;
        for (const DominatorNode& child : node.children) children.push_back(child.node);
        const StepsBetween names = names_of(node.node, children);
        for (DominatorNode& child : node.children) {
            describe(child);
            child.name = shown_name(names, node.node, child.node);
            if (child.run > 0)
                child.run_name =
                    shown_name(names_of(child.node, {child.run_next}), child.node, child.run_next);
        }
    }

    /// Expressions of all that is shown, in one search.
    void express(DominatorNode& top, const ProgressCallback& progress, KeptAnswers* answers) {
        std::vector<ObjectId> wanted;
        for_each(top, [&](ObjectId object, PathExpression&) { wanted.push_back(object); });
        const ExpressionFinder expressions(graph_, wanted, progress, answers);
        for_each(top, [&](ObjectId object, PathExpression& expression) {
            if (auto found = expressions.of(object)) expression = std::move(found->expression);
        });
    }

private:
    template <class F>
    void for_each(DominatorNode& node, F&& visit) {
        if (node.object) visit(node.object->id, node.expression);
        for (JointHolders& joint : node.joint) {
            joint.expressions.resize(joint.holders.size());
            for (std::size_t i = 0; i < joint.holders.size(); ++i)
                visit(joint.holders[i].id, joint.expressions[i]);
        }
        for (DominatorNode& child : node.children) for_each(child, visit);
    }

    void describe_node(DominatorNode& made) const {
        const NodeId id = made.node;
        switch (graph_.kind(id)) {
            case NodeKind::object:
                made.object = object_row(heap_, graph_.object_of(id));
                made.object->retained = made.retained;
                made.object->native = made.native;
                made.remark = suspended_words(heap_, graph_.object_of(id));
                break;
            case NodeKind::root:
            case NodeKind::block:
                break;
            case NodeKind::group:
                made.group = graph_.groups()[graph_.group_of(id)].name;
                made.group_kind = graph_.groups()[graph_.group_of(id)].kind;
                break;
            case NodeKind::frame:
                made.group = frame_words(graph_.frame(graph_.frame_of(id)));
                made.group_kind = GroupKind::thread;
                made.is_frame = true;
                break;
        }
    }

    /// `names` has the steps between objects.
    ReferenceStep name_between(const StepsBetween& names, NodeId source, NodeId target) const {
        if (is_object(graph_, source))
            return names.of(graph_.object_of(source), graph_.object_of(target)).step;
        ReferenceStep best;
        if (graph_.kind(source) != NodeKind::frame) return best;
        for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(graph_.object_of(target))) {
            if (placed.parent != source) continue;
            best =
                placed.root.name.is_null()
                    ? named_step(placed.root.text)
                    : attribute_step(heap_.python_heap().unicode_text(placed.root.name, 200).value_or("?"));
            if (!placed.root.name.is_null()) break;
        }
        return best;
    }

    /// The steps to children that are shown below `parent`, from it and from what is left out between.
    StepsBetween names_of(NodeId parent, const std::vector<NodeId>& children) const {
        std::vector<StepsBetween::Pair> pairs;
        for (const NodeId child : children)
            for (const NodeId source : {parent, retained_.dominator(child)})
                if (source != no_node && is_object(graph_, source) && is_object(graph_, child))
                    pairs.push_back({graph_.object_of(source), graph_.object_of(child)});
        return {heap_, std::move(pairs)};
    }

    /// What `parent` calls a child that is shown below it: an attribute, of a module whose dict is left out.
    ReferenceStep shown_name(const StepsBetween& names, NodeId parent, NodeId child) const {
        const ReferenceStep direct = name_between(names, parent, child);
        if (direct.known()) return direct;
        const NodeId above = retained_.dominator(child);
        if (above == parent || above == no_node) return direct;
        const ReferenceStep name = name_between(names, above, child);
        const auto attribute = modules_.is_dict(above) ? as_attribute(name) : std::nullopt;
        return attribute.value_or(name);
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapReader& heap_;
    ModuleNodes modules_;
};

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

    DominatorNode build(NodeId top) {
        DominatorNode made = node(top);
        grow(made, 0, 0);
        return made;
    }

private:
    DominatorNode node(NodeId id) const {
        DominatorNode made;
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
    void grow(DominatorNode& parent, std::size_t depth, std::size_t alike) {
        std::vector<NodeId> all = shown_children(retained_, modules_, parent.node);
        if (depth < query_.depth && parent.node != graph_.root() && !all.empty()) {
            const std::uint64_t worth = std::max<std::uint64_t>({query_.least, parent.retained / 50, 1});
            parent.joint = joint_holders_.find(parent.node, worth, most_joint_entries);
            std::unordered_set<NodeId> together;
            for (const JointHolders& joint : parent.joint)
                together.insert(joint.members.begin(), joint.members.end());
            std::erase_if(all, [&](NodeId child) { return together.contains(child); });
        }
        std::vector<NodeId> given;
        FoldedByType folded;
        for (const NodeId child : all) {
            const bool fits = retained_.memory(child) >= query_.least;
            if (depth >= query_.depth || !fits || (query_.limit != 0 && given.size() >= query_.limit)) {
                ++parent.folded;
                parent.folded_retained += retained_.memory(child);
                if (is_object(graph_, child)) {
                    auto& [bytes, count] = folded[std::uint32_t{columns().type_of(graph_.object_of(child))}];
                    bytes += retained_.memory(child);
                    ++count;
                } else if (is_thread(graph_, child)) {
                    ++parent.folded_threads;
                    parent.folded_threads_retained += retained_.memory(child);
                }
                continue;
            }
            given.push_back(child);
        }
        for (const auto& [type, sum] : folded)
            if (sum.first * 10 >= parent.folded_retained * 9 && TypeId(type) != no_type) {
                parent.folded_type = TypeId(type);
                parent.folded_of_type = sum.second;
                parent.folded_of_type_retained = sum.first;
            }
        parent.folded_types = largest_folded(folded);
        parent.children.reserve(given.size());  // there may be a million, of almost a kilobyte
        for (const NodeId child : given) {
            DominatorNode made = node(child);
            add_run(made);
            parent.children.push_back(std::move(made));
        }
        if (depth >= query_.depth) return;
        constexpr std::size_t most_alike = 16;
        for (DominatorNode& child : parent.children) {
            const bool goes_on = parent.children.size() == 1 && alike < most_alike &&
                                 is_object(graph_, parent.node) &&
                                 child.retained + parent.retained / 50 >= parent.retained;
            grow(child, goes_on ? depth : depth + 1, alike + goes_on);
        }
    }

    /// Goes on to the last of a run; what is between is only counted.
    void add_run(DominatorNode& first) {
        std::uint64_t count = 0;
        NodeId last = first.node;
        for (NodeId next = next_in_run(last); next != no_node; next = next_in_run(last)) {
            last = next;
            ++count;
        }
        if (count < least_run) return;
        first.run = count;
        first.run_next = next_in_run(first.node);
        first.run_end = last;
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

/// Where a reader goes on: the first object below, or one of what several hold together where that is larger.
Address first_place(const DominatorNode& node) {
    if (!node.joint.empty() && !node.joint.front().example.is_null() &&
        (node.children.empty() || node.joint.front().joint >= node.children.front().retained))
        return node.joint.front().example;
    for (const DominatorNode& child : node.children) {
        if (child.object) return child.object->address;
        if (const Address below = first_place(child); !below.is_null()) return below;
    }
    return {};
}

}  // namespace

namespace {

/// As it is kept.
struct KeptDominators {
    DominatorNode top;
    std::uint64_t loose = 0;

    std::size_t rows() const { return rows_below(top); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        node_fields(self.top, part, graph, 0);
        part.number(self.loose);
    }

private:
    static std::size_t rows_below(const DominatorNode& node) {
        std::size_t rows = 1;
        for (const DominatorNode& child : node.children) rows += rows_below(child);
        return rows;
    }

    template <class Node, class Part>
    static void node_fields(Node& node, Part& part, const HeapGraph& graph, std::size_t depth) {
        part.require(depth <= deepest, "a tree is too deep");
        for (auto* id : {&node.node, &node.run_next, &node.run_end}) {
            part.number(*id);
            part.require(*id < graph.node_count(), "a number is no node's");
        }
        for (auto* number : {&node.retained, &node.native, &node.run, &node.folded, &node.folded_retained})
            part.number(*number);
        kept_type(node.folded_type, part, graph.heap());
        for (auto* number : {&node.folded_of_type, &node.folded_of_type_retained}) part.number(*number);
        part.list(node.folded_types, [&](auto& one, Part& p) {
            kept_type(one.type, p, graph.heap());
            p.number(one.count);
            p.number(one.retained);
        });
        for (auto* number : {&node.folded_threads, &node.folded_threads_retained}) part.number(*number);
        part.require(node.run == 0 || (is_object(graph, node.node) && is_object(graph, node.run_next)),
                     "a run is not of objects");
        part.list(node.joint, [&](auto& joint, Part& p) {
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
    DominatorNode shared;  // the virtual root below itself: TreeWords has no words for that
    shared.node = graph.root();
    shared.retained = found.loose;
    shared.joint = joint_holders.find(graph.root(), std::max<std::uint64_t>(query.least, found.loose / 50),
                                      query.limit == 0 ? most_shared_entries : query.limit);
    shared.folded = count_shared;
    shared.folded_retained = found.loose;
    for (const JointHolders& joint : shared.joint) {
        shared.folded -= joint.members.size();
        shared.folded_retained -= joint.joint;
    }
    std::unordered_set<NodeId> together;
    for (const JointHolders& joint : shared.joint)
        together.insert(joint.members.begin(), joint.members.end());
    FoldedByType folded;
    for (const NodeId node : all_shared) {
        if (together.contains(node)) continue;
        auto& [bytes, count] = folded[std::uint32_t{graph.columns().type_of(HeapGraph::object_of(node))}];
        bytes += retained.memory(node);
        ++count;
    }
    shared.folded_types = largest_folded(folded);
    const auto place = std::find_if(found.top.children.begin(), found.top.children.end(),
                                    [&](const DominatorNode& n) { return n.retained < shared.retained; });
    found.top.children.insert(place, std::move(shared));
    return found;
}

KeptQuestion question_about_tree(const DominatorsQuery& query) {
    auto question = KeptQuestion("dominators").with(query.depth).with(query.limit).with(query.least);
    if (query.object) question.with(std::uint32_t{*query.object});
    return question;
}

}  // namespace

DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress, KeptAnswers* answers) {
    constexpr const char* shared = "shared by several groups";
    DominatorsResult result;
    const RetainedLookup retained(graph, sizes);
    result.total = retained.memory(graph.root());
    KeptDominators found =
        kept_answer(answers, question_about_tree(query), graph, [&] { return find_tree(retained, query); });
    result.top = std::move(found.top);
    result.loose = found.loose;
    TreeWords words(retained);
    words.describe(result.top);
    for (DominatorNode& child : result.top.children)
        if (child.node == graph.root()) child.group = shared;
    if (query.object) {
        const GroupId group = retained.group(*query.object);
        result.group = group == no_group ? shared : graph.groups()[group].name;
    }
    retained.give_up_children();  // the search for paths takes as much memory
    words.express(result.top, progress, answers);
    result.next = first_place(result.top);
    return result;
}

}  // namespace heapsift
