// What is told of each place that holder_search.cpp found: how a program would write it, what is in it, who else holds
// it, and what in C code leads to it.

#include "analysis/top_holders.h"

#include "analysis/co_holders.h"
#include "analysis/holder_search.h"
#include "analysis/most_frequent.h"
#include "analysis/native_holders.h"
#include "analysis/object_paths.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_also_held = 2;

template <class F>
void for_each_expressed(std::vector<TopHolder>& holders, F&& visit) {
    for (TopHolder& holder : holders) {
        if (holder.object) visit(holder.object->id, holder.expression, holder);
        if (!holder.joint) continue;
        holder.joint->expressions.resize(holder.joint->holders.size());
        for (std::size_t i = 0; i < holder.joint->holders.size(); ++i)
            visit(holder.joint->holders[i].id, holder.joint->expressions[i], holder);
    }
}

/// The dominators of a holder that have hardly more than it has, the nearest first.
std::vector<ObjectId> alike_above(const RetainedLookup& retained, const TopHolder& holder) {
    constexpr int most_steps = 8;
    std::vector<ObjectId> above;
    NodeId at = holder.node;
    for (int step = 0; step < most_steps; ++step) {
        at = retained.dominator(at);
        if (at == no_node || retained.graph().kind(at) != NodeKind::object ||
            retained.memory(at) * 10 > holder.retained * 11)
            break;
        above.push_back(HeapGraph::object_of(at));
    }
    return above;
}

/// What hangs on a reference that C code has, without a name in Python, is called by what has it.
void call_by_what_has_it(const RetainedLookup& retained, const ExpressionFinder& expressions,
                         TopHolder& holder) {
    if (!holder.object || holder.is_chain) return;
    const auto own = expressions.of(holder.object->id);
    if (own && !own->expression.from_address) return;
    for (const ObjectId object : alike_above(retained, holder)) {
        // A running call has it among its arguments and results, which have no names either.
        if (retained.graph().columns().types.is(retained.graph().columns().type_of(object), KnownType::frame))
            return;
        const auto found = expressions.of(object);
        if (!found || found->expression.from_address) continue;
        holder.node = retained.graph().node_of(object);
        holder.retained = retained.memory(holder.node);
        holder.has_content = true;
        holder.content = retained.graph().columns().type_of(holder.object->id);
        holder.content_type = std::exchange(holder.object, object_row(retained.graph().heap(), object))->type;
        holder.content_count = 1;
        holder.object->retained = holder.retained;
        holder.object->native = retained.native(holder.node);
        holder.remark = suspended_words(retained.graph().heap(), object);
        return;
    }
}

/// An object to which the holder belongs, and which is held by few others than the path to the holder says.
void say_what_else_holds(const HeapGraph& graph, const ExpressionFinder& expressions, ObjectId owner,
                         const std::vector<ObjectId>& referrers, TopHolder& holder) {
    const std::vector<ObjectId> path = expressions.path(holder.object->id);
    const auto on_path = std::find(path.begin(), path.end(), owner);
    if (on_path == path.end()) return;
    const ObjectId before = on_path == path.begin() ? no_object : *(on_path - 1);
    std::vector<PathExpression> others;
    for (const ObjectId source : referrers) {
        if (source == before) continue;
        auto found = expressions.by_way_of(source, owner);
        if (!found || found->expression.from_address) return;
        others.push_back(std::move(found->expression));
    }
    for (const HeapGraph::PlacedRoot& root : graph.roots_of(owner))
        if (root.root.kind == RootKind::frame && !root.root.name.is_null() && before != no_object)
            others.push_back(path_expression(graph, root.root, std::vector{owner}, {}));
    if (others.size() > most_also_held) return;
    holder.owner_type_id = graph.columns().type_of(owner);
    holder.owner_type = type_name(graph.columns().types, graph.columns().type_of(owner));
    holder.owner_also_held_by = std::move(others);
    holder.owner_address = graph.columns().address_of(owner);
    if (const auto found = expressions.of(owner)) holder.owner = found->expression;
}

void express(const RetainedLookup& retained, std::vector<TopHolder>& holders,
             const ProgressCallback& progress, KeptAnswers* answers) {
    const HeapGraph& graph = retained.graph();
    std::vector<ObjectId> wanted;
    for_each_expressed(holders,
                       [&](ObjectId object, PathExpression&, TopHolder&) { wanted.push_back(object); });
    for (const TopHolder& holder : holders)
        if (holder.object && !holder.is_chain) {
            const std::vector<ObjectId> above = alike_above(retained, holder);
            wanted.insert(wanted.end(), above.begin(), above.end());
        }
    std::vector<ObjectId> owners;
    for (const TopHolder& holder : holders)
        owners.push_back(holder.object && !holder.is_chain ? owner_of(retained, holder.object->id)
                                                           : no_object);
    const OutsideReferrers referrers = outside_referrers(retained, owners, most_also_held, answers);
    for (const OutsideReferrers::Link& link : referrers.links) wanted.push_back(link.source);
    const ExpressionFinder expressions(graph, wanted, progress, answers);
    for (std::size_t i = 0; i < holders.size(); ++i)
        if (owners[i] != no_object)
            say_what_else_holds(graph, expressions, owners[i], referrers.of(owners[i]), holders[i]);
    for (TopHolder& holder : holders) call_by_what_has_it(retained, expressions, holder);
    for_each_expressed(holders, [&](ObjectId object, PathExpression& expression, TopHolder& holder) {
        auto found = expressions.of(object);
        if (!found) return;
        const Root& root = found->root;
        expression = std::move(found->expression);
        const bool is_first = holder.object ? holder.object->id == object : holder.path.empty();
        if (is_first) holder.path = expressions.path(object);
        if (root.kind == RootKind::thread_local_ && holder.root.empty()) {
            holder.root = root_words(graph, root);
            holder.thread_local_name = thread_local_name(graph, root);
        }
        if (root.kind == RootKind::native && holder.root.empty()) holder.root = root.text;
        if (holder.object && holder.object->id == object && root.frame >= 0) {
            holder.frame = frame_words(graph.frame({root.thread, root.frame}));
            holder.call = call_words(graph.frame({root.thread, root.frame}));
            holder.code = graph.frame({root.thread, root.frame}).code;
            // Up to 3.10 a coroutine that runs has its frame as an object, through which its locals are reached.
            const bool one_step = expression.steps.size() == 1;
            const bool of_frame =
                expression.from_address && one_step && expression.steps.front().name.own_frame;
            holder.in_work = expression.from_address && !of_frame;
            if (of_frame || (!expression.from_address && expression.first == 0 && one_step))
                holder.local = expression.steps.front().name.name;
        }
    });
}

/// By the ways to the largest of the objects that C code has.
void name_variable(const RetainedLookup& retained, KeptAnswers* answers, TopHolder& holder) {
    constexpr std::size_t most_asked = 16;
    const HeapGraph& graph = retained.graph();
    std::vector<NodeId> held;
    retained.visit_children(holder.node, [&](NodeId child) {
        if (graph.kind(child) != NodeKind::object) return;
        const ObjectId object = HeapGraph::object_of(child);
        if (graph.columns().type_of(object) == holder.content && c_code_root(graph, object))
            held.push_back(child);
    });
    const std::size_t asked = std::min(most_asked, held.size());
    std::partial_sort(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(asked), held.end(),
                      [&](NodeId a, NodeId b) {
                          const std::uint64_t of_a = retained.memory(a), of_b = retained.memory(b);
                          return of_a != of_b ? of_a > of_b : a < b;
                      });
    held.resize(asked);
    NativeHolderFinder finder(graph.heap(), answers);
    MostFrequent<std::string> variables;
    for (const NodeId node : held) {
        const ObjectId object = HeapGraph::object_of(node);
        if (holder.example.is_null()) holder.example = graph.columns().address_of(object);
        const std::vector<NativeEnd> way = finder.of(c_code_root(graph, object)->root.word).way;
        const bool named = !way.empty() && !way.back().object && !way.back().leaked;
        variables.add(named ? way.back().words : std::string(), retained.memory(node));
    }
    if (const std::string* name = variables.get()) holder.variable = *name;
}

/// The words that need no path.
void describe(const RetainedLookup& retained, TopHolder& holder) {
    const HeapGraph& graph = retained.graph();
    const HeapSnapshot& columns = graph.columns();
    holder.group = holder.below == no_group ? "shared by several groups" : graph.groups()[holder.below].name;
    if (holder.below != no_group) holder.group_kind = graph.groups()[holder.below].kind;
    if (holder.joint)
        holder.content_type = holder.joint->type;
    else if (holder.has_content)
        holder.content_type = type_name(columns.types, holder.content);
    if (!holder.joint && graph.kind(holder.node) == NodeKind::object) {
        const ObjectId object = HeapGraph::object_of(holder.node);
        holder.object = object_row(graph.heap(), object);
        holder.object->retained = holder.alike > 1 ? retained.memory(holder.node) : holder.retained;
        holder.object->native = retained.native(holder.node);
        holder.remark = holder.is_chain ? "a chain" : suspended_words(graph.heap(), object);
    }
    holder.says_held = holder.joint ? holder.joint->begins_with_held
                                    : !holder.object && holder.group_kind == GroupKind::held;
}

/// As they are kept.
struct KeptHolders {
    std::vector<TopHolder> holders;

    std::size_t rows() const { return holders.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        part.list(self.holders, [&](auto& holder, Part& p) {
            p.number(holder.node);
            p.require(holder.node < graph.node_count(), "a number is no node's");
            p.number(holder.below);
            p.require(holder.below == no_group || holder.below < graph.groups().all.size(),
                      "a number is no group's");
            kept_type(holder.content, p, graph.heap());
            for (auto* flag : {&holder.has_content, &holder.is_chain, &holder.by_c_code}) p.number(*flag);
            for (auto* number : {&holder.many, &holder.retained, &holder.content_count, &holder.alike})
                p.number(*number);
            bool joint = holder.joint.has_value();
            p.number(joint);
            if constexpr (Part::reading)
                if (joint) holder.joint.emplace();
            if (!joint) return;
            joint_holders_fields(*holder.joint, p, graph);
            if constexpr (Part::reading) heapsift::describe(*holder.joint, graph);
        });
    }
};

}  // namespace

std::vector<TopHolder> top_holders(const HeapGraph& graph, const RetainedSizes& sizes, std::uint64_t least,
                                   std::size_t most, const ProgressCallback& progress, KeptAnswers* answers) {
    const auto question = KeptQuestion("topholders").with(least).with(most);
    std::vector<TopHolder> holders = kept_answer(answers, question, graph, [&] {
                                         const RetainedLookup retained(graph, sizes);
                                         return KeptHolders{search_holders(retained, least, most)};
                                     }).holders;
    const RetainedLookup retained(graph, sizes);
    for (TopHolder& holder : holders) {
        describe(retained, holder);
        if (holder.by_c_code) name_variable(retained, answers, holder);
    }
    express(retained, holders, progress, answers);
    return holders;
}

}  // namespace heapsift
