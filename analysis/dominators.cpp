// Groups are the top of the tree; what several of them hold stands below a row of its own. A module, its dict
// and its name are one row: the module's. A run (a linked list: each node dominates the next) is its first
// and its last node and how many are between.
//
// Joint holders. Two registries with the same 12,000 jobs retain neither: their dominator is what holds both.
// So of the children that a node does not itself refer to, one asks from which of its other children
// references lead to them; those that come from the same children are one entry, and the set of these
// children is asked what it retains.

#include "analysis/dominators.h"

#include "analysis/object_paths.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::uint32_t none = Preorder::none;
constexpr std::size_t most_joint_entries = 5, most_holders = 8;
constexpr int least_run = 3;

bool is_object(const HeapGraph& graph, NodeId node) { return graph.kind(node) == NodeKind::object; }

class ModuleNodes {
public:
    explicit ModuleNodes(const HeapGraph& graph) {
        for (const LoadedModule& module : graph.root_set().modules()) {
            modules_.insert(graph.node_of(module.object));
            if (const ObjectId dict = module.dict.is_null() ? no_object : graph.columns().find(module.dict);
                dict != no_object)
                dicts_.insert(graph.node_of(dict));
        }
    }
    bool is_module(NodeId node) const { return modules_.contains(node); }
    bool is_dict(NodeId node) const { return dicts_.contains(node); }

private:
    std::unordered_set<NodeId> modules_, dicts_;
};

void flatten(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node, bool own_module,
             std::vector<NodeId>& result) {
    for (const NodeId child : retained.children(node)) {
        const bool module = own_module && modules.is_module(child);
        if (module || (modules.is_module(node) && modules.is_dict(child)))
            flatten(retained, modules, child, false, result);
        else
            result.push_back(child);
    }
}

bool is_module_group(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::module;
}

std::vector<NodeId> children_of(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node) {
    const HeapGraph& graph = retained.graph();
    std::vector<NodeId> result;
    const bool own_module =
        graph.kind(node) == NodeKind::group && graph.groups()[graph.group_of(node)].kind == GroupKind::module;
    flatten(retained, modules, node, own_module, result);
    if (node == graph.root()) std::erase_if(result, [&](NodeId child) { return is_object(graph, child); });
    if (!is_module_group(graph, node) && !modules.is_module(node)) return result;  // sorted as they are
    std::stable_sort(result.begin(), result.end(),
                     [&](NodeId a, NodeId b) { return retained.memory(a) > retained.memory(b); });
    return result;
}

/// Of each position, the child of `node` that dominates it (or is it); `none` for others.
class ChildTowards {
public:
    ChildTowards(const RetainedLookup& retained, NodeId node)
        : graph_(retained.graph()), first_(graph_.preorder().position(node)) {
        const auto count = static_cast<std::uint32_t>(graph_.preorder().reached());
        towards_.assign(count - first_, none);
        for (std::uint32_t p = first_ + 1; p < count; ++p) {
            const std::uint32_t above = retained.tree().dominator(p);
            if (above == first_)
                towards_[p - first_] = p;
            else if (above != none && above > first_)
                towards_[p - first_] = towards_[above - first_];
        }
    }
    NodeId operator[](NodeId node) const {
        const std::uint32_t p = graph_.preorder().position(node);
        const std::uint32_t towards = p == none || p <= first_ ? none : towards_[p - first_];
        return towards == none ? no_node : graph_.preorder().node_at(towards);
    }

private:
    const HeapGraph& graph_;
    std::uint32_t first_;
    std::vector<std::uint32_t> towards_;
};

class JointFinder {
public:
    JointFinder(const RetainedLookup& retained, NodeId node)
        : retained_(retained), graph_(retained.graph()), node_(node) {}

    std::vector<JointHolders> find(std::uint64_t least, std::size_t most) {
        std::unordered_map<NodeId, std::vector<NodeId>> holders;
        std::uint64_t together = 0;
        for (const NodeId child : joint_children()) {
            holders.emplace(child, std::vector<NodeId>());
            together += retained_.memory(child);
        }
        if (together < least || holders.empty()) return {};
        const ChildTowards towards(retained_, node_);
        for (NodeId source{0}; source < graph_.node_count(); ++source) {
            if (graph_.preorder().position(source) == none) continue;
            NodeId entry;
            for (const NodeId target : graph_.targets(source)) {
                const auto at = holders.find(target);
                if (at == holders.end() || !graph_.follows(source, target)) continue;
                if (entry == no_node) entry = towards[source];
                if (entry == no_node || entry == target) continue;
                if (holders.contains(entry))
                    join(entry, target);
                else if (at->second.empty() || at->second.back() != entry)
                    at->second.push_back(entry);
            }
        }
        return rows(holders, least, most);
    }

private:
    /// Children that it does not itself refer to.
    std::vector<NodeId> joint_children() const {
        std::vector<bool> own(graph_.node_count());
        for (const NodeId target : graph_.targets(node_))
            if (graph_.follows(node_, target)) own[target] = true;
        std::vector<NodeId> result = retained_.children(node_);
        std::erase_if(result, [&](NodeId child) { return own[child]; });
        return result;
    }

    std::vector<JointHolders> rows(const std::unordered_map<NodeId, std::vector<NodeId>>& holders,
                                   std::uint64_t least, std::size_t most) {
        struct Entry {
            std::uint64_t count = 0, memory = 0;
            std::vector<NodeId> members;
        };
        std::map<std::pair<std::vector<NodeId>, TypeId>, Entry> entries;
        for (Part& part : parts(holders)) {
            if (part.by.empty() || part.by.size() > most_holders) continue;
            Entry& entry = entries[{std::move(part.by), part.type}];
            entry.count += part.count;
            entry.memory += part.memory;
            entry.members.insert(entry.members.end(), part.members.begin(), part.members.end());
        }
        std::vector<std::pair<const std::pair<std::vector<NodeId>, TypeId>*, Entry>> sorted;
        for (const auto& [key, entry] : entries)
            if (entry.memory >= least) sorted.emplace_back(&key, entry);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.second.memory > b.second.memory; });
        if (sorted.size() > most) sorted.resize(most);
        std::vector<JointHolders> result;
        for (const auto& [key, entry] : sorted)
            result.push_back(row(key->first, key->second, entry.count, entry.memory, entry.members));
        return result;
    }

    /// Joint children that refer to each other are held as one: a list linked both ways, whose ends two
    /// variables hold.
    struct Part {
        std::vector<NodeId> by, members;
        TypeId type = no_type;    // that has most of it
        std::uint64_t count = 0;  // of that type
        std::uint64_t memory = 0;
    };
    NodeId leader(NodeId child) {
        while (true) {
            const auto at = joined_.find(child);
            if (at == joined_.end()) return child;
            if (const auto next = joined_.find(at->second); next != joined_.end()) at->second = next->second;
            child = at->second;
        }
    }
    void join(NodeId a, NodeId b) {
        const NodeId first = leader(a), second = leader(b);
        if (first != second) joined_[std::max(first, second)] = std::min(first, second);
    }
    std::vector<Part> parts(const std::unordered_map<NodeId, std::vector<NodeId>>& holders) {
        std::vector<NodeId> children;
        for (const auto& [child, by] : holders)
            if (is_object(graph_, child)) children.push_back(child);
        std::sort(children.begin(), children.end());
        std::unordered_map<NodeId, std::size_t> part_of;
        std::vector<Part> result;
        for (const NodeId child : children) {
            const auto [at, added] = part_of.emplace(leader(child), result.size());
            if (added) result.emplace_back();
            Part& part = result[at->second];
            const std::vector<NodeId>& by = holders.at(child);
            part.by.insert(part.by.end(), by.begin(), by.end());
            part.members.push_back(child);
            part.memory += retained_.memory(child);
        }
        for (Part& part : result) {
            std::sort(part.by.begin(), part.by.end());
            part.by.erase(std::unique(part.by.begin(), part.by.end()), part.by.end());
            std::map<TypeId, std::pair<std::uint64_t, std::uint64_t>> types;  // memory, count
            for (const NodeId member : part.members) {
                auto& [memory, count] = types[graph_.columns().type_of(graph_.object_of(member))];
                memory += retained_.memory(member);
                ++count;
            }
            const auto most = std::max_element(
                types.begin(), types.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
            part.type = most->first;
            part.count = most->second.second;
        }
        return result;
    }

    JointHolders row(const std::vector<NodeId>& holders, TypeId type, std::uint64_t count,
                     std::uint64_t memory, const std::vector<NodeId>& members) const {
        JointHolders made;
        made.type = type_name(graph_.columns().types, type);
        made.count = count;
        made.joint = memory;
        made.members = members;
        for (const NodeId holder : holders) {
            if (is_object(graph_, holder))
                made.holders.push_back(brief_object_row(graph_.heap(), graph_.object_of(holder)));
            else
                made.groups.push_back(words_of(holder));
            made.begins_with_held = made.begins_with_held || (made.groups.size() == 1 && is_held(holder));
        }
        made.begins_with_held = made.begins_with_held && made.holders.empty();
        std::vector<ObjectSizes> sizes(1);
        for (const ObjectId object : retained_by(graph_, holders)) {
            sizes[0] = ObjectSizes();
            graph_.heap().sizes(object, sizes);
            made.retained += sizes[0].memory;
        }
        return made;
    }
    bool is_held(NodeId node) const {
        return graph_.kind(node) == NodeKind::group &&
               graph_.groups()[graph_.group_of(node)].kind == GroupKind::held;
    }

    std::string words_of(NodeId node) const {
        if (graph_.kind(node) == NodeKind::frame) return frame_words(graph_.frame(graph_.frame_of(node)));
        return graph_.groups()[graph_.group_of(node)].name;
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    NodeId node_;
    std::unordered_map<NodeId, NodeId> joined_;  // a joint child to one that it goes with
};

class TreeBuilder {
public:
    TreeBuilder(const RetainedLookup& retained, const DominatorsQuery& query)
        : retained_(retained),
          graph_(retained.graph()),
          heap_(graph_.heap()),
          modules_(graph_),
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

    ReferenceStep name_between(NodeId source, NodeId target) const {
        if (is_object(graph_, source))
            return step_between(heap_, graph_.object_of(source), graph_.object_of(target)).step;
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

    /// What `parent` calls a child that is shown below it: an attribute, of a module whose dict is left out.
    ReferenceStep shown_name(NodeId parent, NodeId child) const {
        const ReferenceStep direct = name_between(parent, child);
        if (direct.known()) return direct;
        const NodeId above = retained_.dominator(child);
        if (above == parent || above == no_node) return direct;
        const ReferenceStep name = name_between(above, child);
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
        std::vector<NodeId> all = children_of(retained_, modules_, parent.node);
        if (depth < query_.depth && parent.node != graph_.root() && !all.empty()) {
            const std::uint64_t worth = std::max<std::uint64_t>({query_.least, parent.retained / 50, 1});
            parent.joint = joint_holders(retained_, parent.node, worth, most_joint_entries);
            std::unordered_set<NodeId> together;
            for (const JointHolders& joint : parent.joint)
                together.insert(joint.members.begin(), joint.members.end());
            std::erase_if(all, [&](NodeId child) { return together.contains(child); });
        }
        std::size_t given = 0;
        for (const NodeId child : all) {
            const bool fits = retained_.memory(child) >= query_.least && retained_.memory(child) > 0;
            if (depth >= query_.depth || !fits || (query_.limit != 0 && given >= query_.limit)) {
                ++parent.folded;
                parent.folded_retained += retained_.memory(child);
                continue;
            }
            ++given;
            DominatorNode made = node(child);
            made.name = shown_name(parent.node, child);
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
        const ReferenceStep name = shown_name(first.node, next_in_run(first.node));
        first.run = count;
        first.run_name = name;
        first.run_end = last;
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    ModuleNodes modules_;
    const DominatorsQuery& query_;
};

}  // namespace

std::vector<NodeId> shown_children(const RetainedLookup& retained, NodeId node) {
    return children_of(retained, ModuleNodes(retained.graph()), node);
}

std::vector<JointHolders> joint_holders(const RetainedLookup& retained, NodeId node, std::uint64_t least,
                                        std::size_t most) {
    const ModuleNodes modules(retained.graph());
    std::vector<JointHolders> result = JointFinder(retained, node).find(least, most);
    // A module's variables hang below its dict.
    std::vector<NodeId> inner{node};
    for (std::size_t i = 0; i < inner.size() && node != retained.graph().root(); ++i)
        for (const NodeId child : retained.children(inner[i])) {
            const bool shown_as_one = modules.is_module(child)
                                          ? is_module_group(retained.graph(), node)
                                          : modules.is_dict(child) && modules.is_module(inner[i]);
            if (!shown_as_one) continue;
            inner.push_back(child);
            for (JointHolders& joint : JointFinder(retained, child).find(least, most))
                result.push_back(std::move(joint));
        }
    std::stable_sort(result.begin(), result.end(),
                     [](const JointHolders& a, const JointHolders& b) { return a.joint > b.joint; });
    if (result.size() > most) result.resize(most);
    return result;
}

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
    TreeBuilder builder(retained, query);
    result.top = builder.build(query.object ? graph.node_of(*query.object) : graph.root());
    if (query.object) {
        const GroupId group = retained.group(*query.object);
        result.group = group == no_group ? "shared by several groups" : graph.groups()[group].name;
    } else if (result.loose >= std::max<std::uint64_t>(query.least, 1)) {
        DominatorNode shared;
        shared.group = "shared by several groups";
        shared.node = graph.root();
        shared.retained = result.loose;
        shared.joint =
            joint_holders(retained, graph.root(), std::max<std::uint64_t>(query.least, result.loose / 50),
                          most_joint_entries);
        const auto place = std::find_if(result.top.children.begin(), result.top.children.end(),
                                        [&](const DominatorNode& n) { return n.retained < shared.retained; });
        result.top.children.insert(place, std::move(shared));
    }
    builder.express(result.top, progress);
    if (const DominatorNode* next = first_object(result.top)) result.next = next->object->address;
    return result;
}

}  // namespace heapsift
