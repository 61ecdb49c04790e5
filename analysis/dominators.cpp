// Groups are the top of the tree; what several of them hold stands below a row of its own. A module, its dict
// and its name are one row: the module's. A run (a linked list: each node dominates the next) is its first
// and its last node and how many are between.

#include "analysis/dominators.h"

#include "analysis/object_paths.h"

#include <algorithm>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_joint_entries = 5;
constexpr int least_run = 3;

bool is_object(const HeapGraph& graph, NodeId node) { return graph.kind(node) == NodeKind::object; }

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
    flatten(retained, modules, node, module_group, least, result);
    if (node == graph.root()) std::erase_if(result, [&](NodeId child) { return is_object(graph, child); });
    if (!module_group && !modules.is_module(node)) return result;  // sorted as they are
    std::stable_sort(result.begin(), result.end(),
                     [&](NodeId a, NodeId b) { return retained.memory(a) > retained.memory(b); });
    return result;
}

namespace {

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
        grow(made, 0);
        return made;
    }

    /// Expressions of all that is shown, in one search.
    void express(DominatorNode& top, const ProgressCallback& progress) {
        std::vector<ObjectId> wanted;
        for_each(top, [&](ObjectId object, PathExpression&) { wanted.push_back(object); });
        const ExpressionFinder expressions(graph_, wanted, progress);
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

    DominatorNode node(NodeId id) const {
        DominatorNode made;
        made.node = id;
        made.retained = retained_.memory(id);
        switch (graph_.kind(id)) {
            case NodeKind::object:
                made.object = object_row(heap_, graph_.object_of(id));
                made.object->retained = made.retained;
                made.remark = suspended_words(heap_, graph_.object_of(id));
                break;
            case NodeKind::root:
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
        return made;
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

    void grow(DominatorNode& parent, std::size_t depth) {
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
        for (const NodeId child : all) {
            const bool fits = retained_.memory(child) >= query_.least && retained_.memory(child) > 0;
            if (depth >= query_.depth || !fits || (query_.limit != 0 && given.size() >= query_.limit)) {
                ++parent.folded;
                parent.folded_retained += retained_.memory(child);
                continue;
            }
            given.push_back(child);
        }
        const StepsBetween names = names_of(parent.node, given);
        for (const NodeId child : given) {
            DominatorNode made = node(child);
            made.name = shown_name(names, parent.node, child);
            add_run(made);
            parent.children.push_back(std::move(made));
        }
        if (depth >= query_.depth) return;
        for (DominatorNode& child : parent.children) grow(child, depth + 1);
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
        const NodeId second = next_in_run(first.node);
        const ReferenceStep name = shown_name(names_of(first.node, {second}), first.node, second);
        first.run = count;
        first.run_name = name;
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

const DominatorNode* first_object(const DominatorNode& node) {
    for (const DominatorNode& child : node.children) {
        if (child.object) return &child;
        if (const DominatorNode* below = first_object(child)) return below;
    }
    return nullptr;
}

}  // namespace

DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress) {
    DominatorsResult result;
    const RetainedLookup retained(graph, sizes);
    result.total = retained.memory(graph.root());
    for (const NodeId object : shared_by_groups(retained)) result.loose += retained.memory(object);
    JointHolderFinder joint_holders(retained);
    TreeBuilder builder(retained, joint_holders, query);
    result.top = builder.build(query.object ? graph.node_of(*query.object) : graph.root());
    if (query.object) {
        const GroupId group = retained.group(*query.object);
        result.group = group == no_group ? "shared by several groups" : graph.groups()[group].name;
    } else if (result.loose >= std::max<std::uint64_t>(query.least, 1)) {
        DominatorNode shared;
        shared.group = "shared by several groups";
        shared.node = graph.root();
        shared.retained = result.loose;
        shared.joint = joint_holders.find(
            graph.root(), std::max<std::uint64_t>(query.least, result.loose / 50), most_joint_entries);
        const auto place = std::find_if(result.top.children.begin(), result.top.children.end(),
                                        [&](const DominatorNode& n) { return n.retained < shared.retained; });
        result.top.children.insert(place, std::move(shared));
    }
    builder.express(result.top, progress);
    if (const DominatorNode* next = first_object(result.top)) result.next = next->object->address;
    return result;
}

}  // namespace heapsift
