// A node in words is a row of its object, the expression that leads there, and what the node above calls it. Expressions
// of all that is shown come from one search for paths; the step to a child is mostly the last of its path, and read
// from the node above together with its siblings'. A child of a module hangs below its dict, which has no row: it is called
// what the dict calls it.

#include "analysis/dominators.h"

#include <utility>

namespace heapsift {
namespace {

constexpr const char* shared_words = "shared by several groups";

void collect_objects(const HeapGraph& graph, const DominatorTreeNode& node, std::vector<ObjectId>& objects) {
    if (is_object(graph, node.node)) objects.push_back(graph.object_of(node.node));
    for (const JointHolders& joint : node.rest().joint)
        for (const ObjectRow& holder : joint.holders) objects.push_back(holder.id);
    for (const DominatorTreeNode& child : node.children) collect_objects(graph, child, objects);
}

}  // namespace

DominatorsAnswer::DominatorsAnswer(const HeapGraph& graph, const RetainedSizes& sizes,
                                   const DominatorsQuery& query, const ProgressCallback& progress,
                                   KeptAnswers* answers)
    : graph_(graph),
      retained_(graph, sizes),
      modules_(graph),
      found_(find_dominators(retained_, query, answers)),
      total_(retained_.memory(graph.root())) {
    if (query.object) {
        const GroupId group = retained_.group(*query.object);
        group_ = group == no_group ? shared_words : graph.groups()[group].name;
    }
    retained_.give_up_children();  // the search for paths takes as much memory
    std::vector<ObjectId> objects;
    collect_objects(graph, found_.top, objects);
    expressions_.emplace(graph, objects, progress, answers);
}

DominatorNode DominatorsAnswer::describe(const DominatorTreeNode& node) const {
    const HeapReader& heap = graph_.heap();
    DominatorNode made;
    static_cast<DominatorTreeNode::Rest&>(made) = node.rest();
    made.node = node.node;
    made.retained = node.retained;
    made.native = node.native;
    const TypeTable& types = graph_.columns().types;
    if (made.folded_type != no_type) made.folded_type_name = type_name(types, made.folded_type);
    for (DominatorTreeNode::FoldedType& one : made.folded_types) one.name = type_name(types, one.type);
    for (JointHolders& joint : made.joint) {
        joint.expressions.resize(joint.holders.size());
        for (std::size_t i = 0; i < joint.holders.size(); ++i)
            if (auto expression = expression_of(joint.holders[i].id))
                joint.expressions[i] = std::move(*expression);
    }
    switch (graph_.kind(node.node)) {
        case NodeKind::object: {
            const ObjectId object = graph_.object_of(node.node);
            made.object = object_row(heap, object);
            made.object->retained = node.retained;
            made.object->native = node.native;
            made.remark = suspended_words(heap, object);
            if (auto expression = expression_of(object)) made.expression = std::move(*expression);
            break;
        }
        case NodeKind::root:
            if (&node != &found_.top) made.group = shared_words;
            break;
        case NodeKind::block:
            break;
        case NodeKind::group:
            made.group = graph_.groups()[graph_.group_of(node.node)].name;
            made.group_kind = graph_.groups()[graph_.group_of(node.node)].kind;
            break;
        case NodeKind::frame:
            made.group = frame_words(graph_.frame(graph_.frame_of(node.node)));
            made.group_kind = GroupKind::thread;
            made.is_frame = true;
            break;
    }
    return made;
}

void DominatorsAnswer::visit_children(const DominatorTreeNode& node, const Visit& visit) const {
    std::vector<NodeId> children;
    children.reserve(node.children.size());
    for (const DominatorTreeNode& child : node.children) children.push_back(child.node);
    const StepsBetween names = names_of(node.node, children);
    for (const DominatorTreeNode& child : node.children) {
        DominatorNode words = describe(child);
        words.name = shown_name(names, node.node, child.node);
        if (const DominatorTreeNode::Rest& rest = child.rest(); rest.run > 0)
            words.run_name = shown_name(names_of(child.node, {&rest.run_next, 1}), child.node, rest.run_next);
        visit(child, std::move(words));
    }
}

std::optional<PathExpression> DominatorsAnswer::expression_of(ObjectId object) const {
    auto found = expressions_->of(object);
    return found ? std::optional(std::move(found->expression)) : std::nullopt;
}

/// `names` has the steps between objects that are on no path.
ReferenceStep DominatorsAnswer::name_between(const StepsBetween& names, NodeId source, NodeId target) const {
    if (is_object(graph_, source)) {
        const ObjectId from = graph_.object_of(source), to = graph_.object_of(target);
        return (expressions_->comes_from(from, to) ? expressions_->step(from, to) : names.of(from, to)).step;
    }
    ReferenceStep best;
    if (graph_.kind(source) != NodeKind::frame) return best;
    for (const HeapGraph::PlacedRoot& placed : graph_.roots_of(graph_.object_of(target))) {
        if (placed.parent != source) continue;
        best = placed.root.name.is_null()
                   ? named_step(placed.root.text)
                   : attribute_step(
                         graph_.heap().python_heap().unicode_text(placed.root.name, 200).value_or("?"));
        if (!placed.root.name.is_null()) break;
    }
    return best;
}

/// The steps to children that are shown below `parent`, from it and from what is left out between; but those that are on
/// a path, which are kept once.
StepsBetween DominatorsAnswer::names_of(NodeId parent, std::span<const NodeId> children) const {
    std::vector<StepsBetween::Pair> pairs;
    for (const NodeId child : children)
        for (const NodeId source : {parent, retained_.dominator(child)}) {
            if (source == no_node || !is_object(graph_, source) || !is_object(graph_, child)) continue;
            const StepsBetween::Pair pair{graph_.object_of(source), graph_.object_of(child)};
            if (!expressions_->comes_from(pair.source, pair.target)) pairs.push_back(pair);
        }
    return {graph_.heap(), std::move(pairs)};
}

/// What `parent` calls a child that is shown below it: an attribute, of a module whose dict is left out.
ReferenceStep DominatorsAnswer::shown_name(const StepsBetween& names, NodeId parent, NodeId child) const {
    const ReferenceStep direct = name_between(names, parent, child);
    if (direct.known()) return direct;
    const NodeId above = retained_.dominator(child);
    if (above == parent || above == no_node) return direct;
    const ReferenceStep name = name_between(names, above, child);
    const auto attribute = modules_.is_dict(above) ? as_attribute(name) : std::nullopt;
    return attribute.value_or(name);
}

/// Where a reader goes on: the first object below, or one of what several hold together where that is larger.
Address DominatorsAnswer::first_place(const DominatorTreeNode& node) const {
    const std::vector<JointHolders>& joint = node.rest().joint;
    if (!joint.empty() && !joint.front().example.is_null() &&
        (node.children.empty() || joint.front().joint >= node.children.front().retained))
        return joint.front().example;
    for (const DominatorTreeNode& child : node.children) {
        if (is_object(graph_, child.node)) return graph_.columns().address_of(graph_.object_of(child.node));
        if (const Address below = first_place(child); !below.is_null()) return below;
    }
    return {};
}

namespace {

void add_children(const DominatorsAnswer& answer, const DominatorTreeNode& node, DominatorNode& words) {
    words.children.reserve(node.children.size());
    answer.visit_children(node, [&](const DominatorTreeNode& child, DominatorNode of_child) {
        words.children.push_back(std::move(of_child));
        add_children(answer, child, words.children.back());
    });
}

}  // namespace

DominatorsResult dominators(const HeapGraph& graph, const RetainedSizes& sizes, const DominatorsQuery& query,
                            const ProgressCallback& progress, KeptAnswers* answers) {
    const DominatorsAnswer answer(graph, sizes, query, progress, answers);
    DominatorsResult result{.top = answer.describe(answer.top()),
                            .total = answer.total(),
                            .group = answer.group(),
                            .next = answer.next(),
                            .loose = answer.loose()};
    add_children(answer, answer.top(), result.top);
    return result;
}

}  // namespace heapsift
