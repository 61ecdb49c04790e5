// Two registries with the same 12,000 jobs retain neither: their dominator is what holds both. So of the
// children that a node does not itself refer to (its joint children), one asks from which of its other
// children references lead to them, directly or by way of other joint children: a list that two threads hold
// passes its holders on to its items. (But not the other way: that an item is held by more, as an interned
// string is, says nothing about the list.) Those of one type that come from the same children are one entry,
// and the set of these children is asked what it retains.
//
// What one module of the program imported from another is held by both, and is what a person knows: it holds, and not
// the two modules, what it refers to (`holds_as_itself`), as long as a few such objects hold it.
//
// Blocks of C code are joint children as objects are: an index of a library that a database and a query lead to. What
// only such a block holds is the block's.
//
// What refers to something that a node dominates is dominated by it as well, unless it is the node itself. So
// only what is below the node is looked at: all questions about a level of the tree together cost one pass
// over the heap, however many nodes it has.

#include "analysis/joint_holders.h"

#include "analysis/graph/components.h"
#include "analysis/graph/search.h"
#include "parsers/snapshot/size_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_in_sample_of_joint = 64;
constexpr std::size_t most_nearer = 4;  // of more, their modules say it better

bool is_held(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::held;
}

std::string words_of(const HeapGraph& graph, NodeId node) {
    if (graph.kind(node) == NodeKind::block)
        return fmt::format("a block of C code {:#x}", graph.native()->start(graph.block_of(node)).value);
    if (graph.kind(node) == NodeKind::frame) return frame_words(graph.frame(graph.frame_of(node)));
    return graph.groups()[graph.group_of(node)].name;
}

}  // namespace

void describe(JointHolders& joint, const HeapGraph& graph) {
    if (joint.types == 1 && !joint.native) joint.type = type_name(graph.columns().types, joint.content);
    if (!joint.sample.empty())
        joint.example = graph.columns().address_of(HeapGraph::object_of(joint.sample.front()));
    if (joint.native) joint.example = graph.native()->start(graph.block_of(joint.block));
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

void JointHolderFinder::Numbers::finish(const std::vector<NodeId>& nodes) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (i == 0 || nodes[i] / 32 != nodes[i - 1] / 32) words_[nodes[i] / 32].before = i;
}

std::uint32_t JointHolderFinder::Numbers::operator[](NodeId node) const {
    const Word& word = words_[node / 32];
    const std::uint32_t lower = word.bits & ((std::uint32_t{1} << (node % 32)) - 1);
    return word.before + static_cast<std::uint32_t>(std::popcount(lower));
}

std::uint32_t JointHolderFinder::Sets::single(NodeId node) {
    const auto [at, added] = singles_.emplace(node, too_many);
    if (added && sets_.size() < most_sets) {
        at->second = static_cast<std::uint32_t>(sets_.size());
        sets_.push_back({node});
        numbers_.emplace(sets_.back(), at->second);
    }
    return at->second;
}

std::uint32_t JointHolderFinder::Sets::united(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == none) return a;
    if (a == none) return b;
    if (a == too_many || b == too_many) return too_many;
    const std::pair key = std::minmax(a, b);
    if (const auto at = unions_.find(key); at != unions_.end()) return at->second;
    std::vector<NodeId> both;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                   std::back_inserter(both));
    std::uint32_t number = too_many;
    if (const auto at = numbers_.find(both); at != numbers_.end()) {
        number = at->second;
    } else if (both.size() <= most_holders_told && sets_.size() < most_sets) {
        number = static_cast<std::uint32_t>(sets_.size());
        numbers_.emplace(both, number);
        sets_.push_back(std::move(both));
    }
    if (unions_.size() < most_sets) unions_.emplace(key, number);
    return number;
}

/// Joint children of one type that the same hold; or C code's blocks, which have none.
struct JointHolderFinder::Part {
    std::uint32_t by = Sets::none;
    TypeId type = no_type;
    std::vector<NodeId> members;
    std::uint64_t memory = 0;
    std::uint64_t types = 1;
};

namespace {

/// Joint children by number, and the references between them.
class BetweenChildren {
public:
    BetweenChildren(std::size_t children, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges)
        : first_(children + 1, 0), targets_(edges.size()) {
        for (const auto& [source, target] : edges) ++first_[source + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (const auto& [source, target] : edges) targets_[next[source]++] = target;
    }

    std::size_t node_count() const { return first_.size() - 1; }
    NodeRow targets(NodeId child) const {
        return NodeRow(std::span<const std::uint32_t>(targets_).subspan(first_[child],
                                                                        first_[child + 1] - first_[child]));
    }

private:
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> targets_;
};

}  // namespace

JointHolderFinder::JointHolderFinder(const RetainedLookup& retained)
    : retained_(retained),
      graph_(retained.graph()),
      modules_(graph_),
      numbers_(graph_.node_count()),
      open_(graph_.node_count()) {}

std::vector<JointHolders> JointHolderFinder::find(NodeId node, std::uint64_t least, std::size_t most,
                                                  std::uint64_t mixed) {
    std::vector<JointHolders> result = below(node, least, most, mixed);
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
            for (JointHolders& joint : below(child, least, most, mixed)) result.push_back(std::move(joint));
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const JointHolders& a, const JointHolders& b) { return a.joint > b.joint; });
    const std::size_t all = most + (mixed > 0 ? 1 : 0);
    if (result.size() > all) result.resize(all);
    return result;
}

std::vector<JointHolders> JointHolderFinder::below(NodeId node, std::uint64_t least, std::size_t most,
                                                   std::uint64_t mixed) {
    gather_joint_children(node);
    std::uint64_t together = 0;
    for (const NodeId child : children_) together += retained_.memory(child);
    std::vector<JointHolders> result;
    const std::uint64_t enough = mixed == 0 ? least : most == 0 ? mixed : std::min(least, mixed);
    if (together >= enough && !children_.empty()) {
        gather_holders(node);
        result = rows(node, least, most, mixed);
    }
    for (const NodeId child : children_) numbers_.remove(child);
    return result;
}

/// RetainedLookup's children are no blocks: what only a block below the node holds is a child of the node there.
void JointHolderFinder::gather_own_blocks(NodeId node) {
    own_blocks_.clear();
    block_entries_.clear();
    const std::uint32_t top = graph_.preorder().position(node);
    retained_.visit_own_blocks(node, [&](std::uint32_t position) {
        const std::uint32_t above = retained_.tree().dominator(position);
        const NodeId block = graph_.preorder().node_at(position);
        block_entries_.push_back(above == top ? block : block_entry(above));
        own_blocks_.push_back(position);
    });
}

/// Of the node's own block at that position, which was gathered.
NodeId JointHolderFinder::block_entry(std::uint32_t position) const {
    const auto at = std::lower_bound(own_blocks_.begin(), own_blocks_.end(), position);
    return block_entries_[static_cast<std::size_t>(at - own_blocks_.begin())];
}

NodeId JointHolderFinder::entry_of(NodeId child) const {
    if (own_blocks_.empty()) return child;
    const std::uint32_t above = retained_.tree().dominator(graph_.preorder().position(child));
    return graph_.kind(graph_.preorder().node_at(above)) == NodeKind::block ? block_entry(above) : child;
}

template <class F>
void JointHolderFinder::visit_below(NodeId node, F&& visit) const {
    const Preorder& preorder = graph_.preorder();
    NodeId last_child, entry;
    retained_.visit_dominated(node, [&](NodeId child, NodeId below) {
        if (child != last_child) entry = entry_of(child);
        last_child = child;
        visit(entry, below);
        retained_.visit_own_blocks(below,
                                   [&](std::uint32_t block) { visit(entry, preorder.node_at(block)); });
    });
    for (std::size_t i = 0; i < own_blocks_.size(); ++i)
        visit(block_entries_[i], preorder.node_at(own_blocks_[i]));
}

void JointHolderFinder::gather_joint_children(NodeId node) {
    children_.clear();
    gather_own_blocks(node);
    const auto add = [&](NodeId child) {
        numbers_.add(child);
        children_.push_back(child);
    };
    retained_.visit_children(node, [&](NodeId child) {
        if (entry_of(child) == child) add(child);
    });
    for (std::size_t i = 0; i < own_blocks_.size(); ++i)
        if (const NodeId block = graph_.preorder().node_at(own_blocks_[i]); block_entries_[i] == block)
            add(block);
    for (const NodeId target : graph_.targets(node))
        if (numbers_.has(target) && graph_.follows(node, target)) numbers_.remove(target);
    std::erase_if(children_, [&](NodeId child) { return !numbers_.has(child); });
    std::sort(children_.begin(), children_.end());
    numbers_.finish(children_);
}

void JointHolderFinder::gather_holders(NodeId node) {
    sets_ = Sets();
    holders_.assign(children_.size(), Sets::none);
    named_.assign(children_.size(), false);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> between;
    visit_below(node, [&](NodeId entry, NodeId source) {
        for (const NodeId target : graph_.targets(source)) {
            if (!numbers_.has(target) || entry == target || !graph_.follows(source, target)) continue;
            const std::uint32_t number = numbers_[target];
            if (modules_.is_dict(source)) named_[number] = true;
            if (!numbers_.has(entry))
                holders_[number] = sets_.united(holders_[number], sets_.single(entry));
            else if (const std::uint32_t from = numbers_[entry];
                     between.empty() || between.back() != std::pair(from, number))
                between.emplace_back(from, number);
        }
    });
    pass_on(between);
}

/// A function or an object that one module imported from another is held by both, and is what a person would look at:
/// it, not the two modules, holds what it refers to.
bool JointHolderFinder::holds_as_itself(std::uint32_t child, std::uint32_t holders) const {
    const NodeId node = children_[child];
    const std::vector<NodeId>& modules = sets_.nodes(holders);
    if (!named_[child] || modules.size() < 2 || graph_.kind(node) != NodeKind::object) return false;
    const HeapSnapshot& columns = graph_.columns();
    const ObjectId object = HeapGraph::object_of(node);
    const bool is_class = columns.types.find(columns.address_of(object)) != no_type;
    return !is_class && !modules_.is_module(node) && !modules_.is_dict(node) &&
           std::all_of(modules.begin(), modules.end(),
                       [&](NodeId module) { return is_module_group(graph_, module); });
}

/// What holds a joint child holds what it refers to. Those that refer to each other in circles have the same
/// holders: a list linked both ways, whose ends two variables hold.
void JointHolderFinder::pass_on(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& between) {
    if (between.empty()) return;
    const BetweenChildren graph(children_.size(), between);
    const Components components = strong_components(graph, [](NodeId) { return true; });
    std::vector<std::uint32_t> held(components.count, Sets::none);  // by component
    std::vector<std::uint32_t> order(children_.size());             // each before those that it leads to
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return components.of_node[NodeId(a)] > components.of_node[NodeId(b)];
    });
    std::vector<std::uint32_t> size(components.count);
    for (const std::uint32_t child : order) {
        const std::uint32_t component = components.of_node[NodeId(child)];
        held[component] = sets_.united(held[component], holders_[child]);
        ++size[component];
    }
    std::vector<std::uint32_t> nearer = held;  // the same, with those that hold as themselves
    for (const std::uint32_t child : order) {
        const std::uint32_t component = components.of_node[NodeId(child)];
        const std::size_t near = sets_.nodes(nearer[component]).size();  // 0: too many
        holders_[child] = near > 0 && near <= most_nearer ? nearer[component] : held[component];
        const std::uint32_t passed = size[component] == 1 && holds_as_itself(child, held[component])
                                         ? sets_.single(children_[child])
                                         : nearer[component];
        for (const NodeId target : graph.targets(NodeId(child))) {
            const std::uint32_t below = components.of_node[target];
            if (below == component) continue;
            held[below] = sets_.united(held[below], held[component]);
            nearer[below] = sets_.united(nearer[below], passed);
        }
    }
}

std::vector<JointHolderFinder::Part> JointHolderFinder::parts() const {
    std::map<std::tuple<std::uint32_t, TypeId, bool>, Part> parts;
    for (std::uint32_t number = 0; number < children_.size(); ++number) {
        const NodeId child = children_[number];
        const bool is_block = graph_.kind(child) == NodeKind::block;
        if ((graph_.kind(child) != NodeKind::object && !is_block) || sets_.nodes(holders_[number]).empty())
            continue;
        const TypeId type = is_block ? no_type : graph_.columns().type_of(HeapGraph::object_of(child));
        Part& part = parts[{holders_[number], type, is_block}];
        part.by = holders_[number];
        part.type = type;
        part.members.push_back(child);
        part.memory += retained_.memory(child);
    }
    std::vector<Part> result;
    for (auto& [key, part] : parts) result.push_back(std::move(part));
    return result;
}

/// What the same hold, whatever its type, where no type has half of it.
std::vector<JointHolderFinder::Part> JointHolderFinder::mixed_parts(const std::vector<Part>& of_types) const {
    std::map<std::uint32_t, Part> parts;
    std::map<std::uint32_t, std::uint64_t> largest;
    for (const Part& part : of_types) {
        if (graph_.kind(part.members.front()) == NodeKind::block) continue;
        Part& all = parts[part.by];
        all.types += all.members.empty() ? 0 : 1;
        all.by = part.by;
        all.memory += part.memory;
        all.members.insert(all.members.end(), part.members.begin(), part.members.end());
        largest[part.by] = std::max(largest[part.by], part.memory);
    }
    std::vector<Part> result;
    for (auto& [by, part] : parts) {
        if (part.types < 2 || 2 * largest[by] > part.memory) continue;
        std::sort(part.members.begin(), part.members.end(), [&](NodeId a, NodeId b) {
            return std::pair(retained_.memory(b), a) < std::pair(retained_.memory(a), b);
        });
        result.push_back(std::move(part));
    }
    return result;
}

std::vector<JointHolders> JointHolderFinder::rows(NodeId node, std::uint64_t least, std::size_t most,
                                                  std::uint64_t mixed) {
    std::vector<Part> found = parts();
    std::vector<Part> of_several;
    if (mixed > 0) of_several = mixed_parts(found);
    std::erase_if(found, [&](const Part& part) { return part.memory < least; });
    std::stable_sort(found.begin(), found.end(), [&](const Part& a, const Part& b) {
        return std::tie(b.memory, sets_.nodes(a.by), a.type) < std::tie(a.memory, sets_.nodes(b.by), b.type);
    });
    if (found.size() > most) found.resize(most);
    const auto largest = std::max_element(of_several.begin(), of_several.end(),
                                          [](const Part& a, const Part& b) { return a.memory < b.memory; });
    if (largest != of_several.end() && largest->memory >= mixed) found.push_back(std::move(*largest));
    std::vector<JointHolders> result;
    for (const Part& part : found) result.push_back(row(node, sets_.nodes(part.by), part));
    return result;
}

/// A Session of SQLAlchemy, which holds weakly: whoever else holds the same comes before it, for there is what to change.
bool JointHolderFinder::is_session(NodeId holder) const {
    if (graph_.kind(holder) != NodeKind::object) return false;
    const TypeId type = graph_.columns().type_of(HeapGraph::object_of(holder));
    return type != no_type && graph_.columns().types[type].name == "sqlalchemy.orm.session.Session";
}

JointHolders JointHolderFinder::row(NodeId node, const std::vector<NodeId>& holders, const Part& part) {
    JointHolders made;
    made.by = holders;
    std::stable_partition(made.by.begin(), made.by.end(), [&](NodeId holder) { return !is_session(holder); });
    made.content = part.type;
    made.count = part.members.size();
    made.types = part.types;
    made.joint = part.memory;
    made.members = part.members;
    made.native = graph_.kind(part.members.front()) == NodeKind::block;
    if (made.native) {
        // Of a list linked by pointers its holders have but the first one.
        made.count = 0;
        visit_below(node, [&](NodeId entry, NodeId below) {
            if (graph_.kind(below) == NodeKind::block &&
                std::binary_search(part.members.begin(), part.members.end(), entry))
                ++made.count;
        });
        made.block = *std::max_element(part.members.begin(), part.members.end(), [&](NodeId a, NodeId b) {
            return std::pair(retained_.memory(a), b) < std::pair(retained_.memory(b), a);
        });
    } else {
        made.sample.assign(part.members.begin(),
                           part.members.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                      part.members.size(), most_in_sample_of_joint)));
    }
    describe(made, graph_);
    made.retained = retained_together(node, holders);
    return made;
}

/// Of what `node` dominates all that it does not reach without them.
std::uint64_t JointHolderFinder::retained_together(NodeId node, const std::vector<NodeId>& holders) {
    visit_below(node, [&](NodeId, NodeId below) { open_[below] = true; });
    for (const NodeId holder : holders) open_[holder] = false;
    SearchStack stack;
    search(
        graph_, node, [&](NodeId at) { return !open_[at]; }, [&](NodeId at) { open_[at] = false; }, stack);
    for (const NodeId holder : holders) open_[holder] = true;
    std::uint64_t memory = 0;
    const SizeColumn& sizes = *graph_.columns().sizes;
    visit_below(node, [&](NodeId, NodeId below) {
        if (open_[below] && graph_.kind(below) == NodeKind::object)
            memory += sizes.memory(HeapGraph::object_of(below));
        if (open_[below] && graph_.kind(below) == NodeKind::block)
            memory += graph_.native()->bytes(graph_.block_of(below));
        open_[below] = false;
    });
    return memory;
}

}  // namespace heapsift
