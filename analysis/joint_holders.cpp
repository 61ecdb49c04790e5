// Two registries with the same 12,000 jobs retain neither: their dominator is what holds both. So of the
// children that a node does not itself refer to (its joint children), one asks from which of its other
// children references lead to them; those that come from the same children are one entry, and the set of
// these children is asked what it retains.
//
// What refers to something that a node dominates is dominated by it as well, unless it is the node itself. So
// only what is below the node is looked at: all questions about a level of the tree together cost one pass
// over the heap, however many nodes it has.

#include "analysis/joint_holders.h"

#include "analysis/graph/search.h"
#include "parsers/snapshot/size_column.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint32_t no_number = 0xffffffff;
constexpr std::size_t most_holders = 8;

bool is_held(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::held;
}

std::string words_of(const HeapGraph& graph, NodeId node) {
    if (graph.kind(node) == NodeKind::frame) return frame_words(graph.frame(graph.frame_of(node)));
    return graph.groups()[graph.group_of(node)].name;
}

}  // namespace

void describe(JointHolders& joint, const HeapGraph& graph) {
    joint.type = type_name(graph.columns().types, joint.content);
    for (const NodeId holder : joint.by) {
        if (graph.kind(holder) == NodeKind::object)
            joint.holders.push_back(brief_object_row(graph.heap(), HeapGraph::object_of(holder)));
        else
            joint.groups.push_back(words_of(graph, holder));
        joint.begins_with_held =
            joint.begins_with_held || (joint.groups.size() == 1 && is_held(graph, holder));
    }
    joint.begins_with_held = joint.begins_with_held && joint.holders.empty();
}

/// Joint children that refer to each other are held as one: a list linked both ways, whose ends two variables
/// hold. Those held by the same, of one type, are one part as well.
struct JointHolderFinder::Part {
    std::vector<NodeId> by, members;
    TypeId type = no_type;    // that has most of it
    std::uint64_t count = 0;  // of that type
    std::uint64_t memory = 0;
};

JointHolderFinder::JointHolderFinder(const RetainedLookup& retained)
    : retained_(retained),
      graph_(retained.graph()),
      modules_(graph_),
      numbers_(graph_.node_count(), no_number),
      open_(graph_.node_count(), 0) {}

std::vector<JointHolders> JointHolderFinder::find(NodeId node, std::uint64_t least, std::size_t most) {
    std::vector<JointHolders> result = below(node, least, most);
    // A module's variables hang below its dict.
    std::vector<NodeId> inner{node};
    for (std::size_t i = 0; i < inner.size() && node != graph_.root(); ++i) {
        std::vector<NodeId> shown_as_one;
        if (modules_.is_module(inner[i]) || is_module_group(graph_, node))
            retained_.visit_children(inner[i], [&](NodeId child) {
                if (modules_.is_module(child) ? is_module_group(graph_, node)
                                              : modules_.is_dict(child) && modules_.is_module(inner[i]))
                    shown_as_one.push_back(child);
            });
        for (const NodeId child : shown_as_one) {
            inner.push_back(child);
            for (JointHolders& joint : below(child, least, most)) result.push_back(std::move(joint));
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const JointHolders& a, const JointHolders& b) { return a.joint > b.joint; });
    if (result.size() > most) result.resize(most);
    return result;
}

std::vector<JointHolders> JointHolderFinder::below(NodeId node, std::uint64_t least, std::size_t most) {
    gather_joint_children(node);
    std::uint64_t together = 0;
    for (const NodeId child : children_) together += retained_.memory(child);
    std::vector<JointHolders> result;
    if (together >= least && !children_.empty()) {
        gather_holders(node);
        result = rows(node, least, most);
    }
    for (const NodeId child : children_) numbers_[child] = no_number;
    return result;
}

void JointHolderFinder::gather_joint_children(NodeId node) {
    children_.clear();
    retained_.visit_children(node, [&](NodeId child) {
        numbers_[child] = 0;
        children_.push_back(child);
    });
    for (const NodeId target : graph_.targets(node))
        if (numbers_[target] != no_number && graph_.follows(node, target)) numbers_[target] = no_number;
    std::erase_if(children_, [&](NodeId child) { return numbers_[child] == no_number; });
    std::sort(children_.begin(), children_.end());
    for (std::size_t i = 0; i < children_.size(); ++i) numbers_[children_[i]] = static_cast<std::uint32_t>(i);
}

void JointHolderFinder::gather_holders(NodeId node) {
    holders_.assign(children_.size(), {});
    leaders_.resize(children_.size());
    std::iota(leaders_.begin(), leaders_.end(), 0U);
    retained_.visit_dominated(node, [&](NodeId entry, NodeId source) {
        for (const NodeId target : graph_.targets(source)) {
            const std::uint32_t number = numbers_[target];
            if (number == no_number || entry == target || !graph_.follows(source, target)) continue;
            std::vector<NodeId>& holders = holders_[number];
            if (numbers_[entry] != no_number)
                join(numbers_[entry], number);
            else if (holders.empty() || holders.back() != entry)
                holders.push_back(entry);
        }
    });
}

std::uint32_t JointHolderFinder::leader(std::uint32_t child) {
    while (leaders_[child] != child) {
        leaders_[child] = leaders_[leaders_[child]];
        child = leaders_[child];
    }
    return child;
}

void JointHolderFinder::join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = leader(a), second = leader(b);
    leaders_[std::max(first, second)] = std::min(first, second);
}

std::vector<JointHolderFinder::Part> JointHolderFinder::parts() {
    std::vector<std::uint32_t> part_of(children_.size(), no_number);  // by leader
    std::vector<Part> result;
    for (std::uint32_t number = 0; number < children_.size(); ++number) {
        const NodeId child = children_[number];
        if (graph_.kind(child) != NodeKind::object) continue;
        std::uint32_t& place = part_of[leader(number)];
        if (place == no_number) {
            place = static_cast<std::uint32_t>(result.size());
            result.emplace_back();
        }
        Part& part = result[place];
        part.by.insert(part.by.end(), holders_[number].begin(), holders_[number].end());
        part.members.push_back(child);
        part.memory += retained_.memory(child);
    }
    for (Part& part : result) {
        std::sort(part.by.begin(), part.by.end());
        part.by.erase(std::unique(part.by.begin(), part.by.end()), part.by.end());
        std::map<TypeId, std::pair<std::uint64_t, std::uint64_t>> types;  // memory, count
        for (const NodeId member : part.members) {
            auto& [memory, count] = types[graph_.columns().type_of(HeapGraph::object_of(member))];
            memory += retained_.memory(member);
            ++count;
        }
        const auto most = std::max_element(types.begin(), types.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        part.type = most->first;
        part.count = most->second.second;
    }
    return result;
}

std::vector<JointHolders> JointHolderFinder::rows(NodeId node, std::uint64_t least, std::size_t most) {
    std::map<std::pair<std::vector<NodeId>, TypeId>, Part> entries;
    for (Part& part : parts()) {
        if (part.by.empty() || part.by.size() > most_holders) continue;
        Part& entry = entries[{std::move(part.by), part.type}];
        entry.type = part.type;
        entry.count += part.count;
        entry.memory += part.memory;
        entry.members.insert(entry.members.end(), part.members.begin(), part.members.end());
    }
    std::vector<std::pair<const std::vector<NodeId>*, const Part*>> sorted;
    for (const auto& [key, entry] : entries)
        if (entry.memory >= least) sorted.emplace_back(&key.first, &entry);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second->memory > b.second->memory; });
    if (sorted.size() > most) sorted.resize(most);
    std::vector<JointHolders> result;
    for (const auto& [holders, part] : sorted) result.push_back(row(node, *holders, *part));
    return result;
}

JointHolders JointHolderFinder::row(NodeId node, const std::vector<NodeId>& holders, const Part& part) {
    JointHolders made;
    made.by = holders;
    made.content = part.type;
    made.count = part.count;
    made.joint = part.memory;
    made.members = part.members;
    describe(made, graph_);
    made.retained = retained_together(node, holders);
    return made;
}

/// Of what `node` dominates all that it does not reach without them.
std::uint64_t JointHolderFinder::retained_together(NodeId node, const std::vector<NodeId>& holders) {
    retained_.visit_dominated(node, [&](NodeId, NodeId below) { open_[below] = 1; });
    for (const NodeId holder : holders) open_[holder] = 0;
    SearchStack stack;
    search(
        graph_, node, [&](NodeId at) { return open_[at] == 0; }, [&](NodeId at) { open_[at] = 0; }, stack);
    for (const NodeId holder : holders) open_[holder] = 1;
    std::uint64_t memory = 0;
    const SizeColumn& sizes = *graph_.columns().sizes;
    retained_.visit_dominated(node, [&](NodeId, NodeId below) {
        if (open_[below] && graph_.kind(below) == NodeKind::object)
            memory += sizes.memory(HeapGraph::object_of(below));
        open_[below] = 0;
    });
    return memory;
}

}  // namespace heapsift
