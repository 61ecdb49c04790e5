// A single node retains what it dominates. A set retains more than its members' sums: what two members hold
// together, neither dominates. It is all that the root no longer reaches once the set is gone: one walk. For
// many sets (the rows of a table) there is one walk for 64 of them: each node has a word in which bit k says
// that it is still reached without set k; words only gain bits, and spread until nothing changes, first in
// preorder, where one pass does nearly all.

#include "analysis/holding/retained.h"

#include "analysis/graph/search.h"
#include "parsers/base/in_pieces.h"
#include "parsers/snapshot/size_column.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

namespace heapsift {
namespace {

constexpr std::uint32_t not_met = Preorder::none;
// Children of one node: to sort fewer anew costs nothing.
constexpr std::size_t worth_keeping = 1024;
constexpr std::size_t ahead = 32;  // objects: how early what lies by position is prefetched
constexpr std::size_t objects_a_piece = 1 << 17;
// Walks at a time: each has 9 bytes a node of its own.
constexpr std::size_t most_walks = 4;

}  // namespace

RetainedSizes retained_sizes(const HeapGraph& graph, const ProgressCallback& progress) {
    RetainedSizes retained;
    if (progress) progress("dominators", 0);
    retained.tree = DominatorTree::build(graph.preorder(), graph.sources());
    if (progress) progress("retained sizes", 0);
    std::vector<std::uint64_t> memory(retained.tree.reached());
    const SizeColumn& sizes = *graph.columns().sizes;
    const std::size_t objects = graph.object_count();
    in_any_order(piece_count(objects, objects_a_piece), [&](std::size_t piece) {
        const auto [begin, end] = piece_of(piece, objects, objects_a_piece);
        for (ObjectId object(begin); object < end; ++object) {
            if (end - object > ahead)
                __builtin_prefetch(&memory[graph.position(ObjectId(object + ahead))], 1);
            memory[graph.position(object)] = sizes.memory(object);
        }
    });
    retained.tree.add_up(memory);
    CompactColumn<std::uint32_t>::Builder narrow;
    narrow.reserve(memory.size());
    for (const std::uint64_t bytes : memory) narrow.push_back(bytes);
    retained.memory = narrow.finish();
    return retained;
}

NodeId RetainedLookup::dominator(NodeId node) const {
    const std::uint32_t at = graph_.preorder().position(node);
    const std::uint32_t above = at == not_met ? not_met : tree().dominator(at);
    return above == not_met ? no_node : graph_.preorder().node_at(above);
}

// What a node dominates is met in the walk below it: in preorder, from the node on until the first one whose
// parent lies before it.
template <class F>
void RetainedLookup::visit_dominated_objects(NodeId node, F&& visit) const {
    const Preorder& preorder = graph_.preorder();
    const std::uint32_t top = preorder.position(node);
    if (top == not_met) return;
    std::vector<bool> below;  // by position, from `top` on
    for (std::uint32_t p = top; p < tree().reached(); ++p) {
        if (p != top && preorder.parent(p) < top) break;
        const std::uint32_t above = tree().dominator(p);
        below.push_back(p == top || (above >= top && above != not_met && below[above - top]));
        if (below.back() && graph_.kind(preorder.node_at(p)) == NodeKind::object)
            visit(graph_.object_of(preorder.node_at(p)));
    }
}

std::vector<ObjectId> RetainedLookup::dominated(NodeId node) const {
    std::vector<ObjectId> objects;
    visit_dominated_objects(node, [&](ObjectId object) { objects.push_back(object); });
    return objects;
}

std::uint64_t RetainedLookup::size(NodeId node) const {
    std::uint64_t total = 0;
    const SizeColumn& sizes = *graph_.columns().sizes;
    visit_dominated_objects(node, [&](ObjectId object) {
        const ObjectSizes one = sizes[object];
        // Part of a program, and never freed: a small int.
        if (one.memory > 0 || !graph_.heap().facts(object).immortal) total += one.size;
    });
    return total;
}

std::uint64_t RetainedLookup::count(NodeId node) const {
    std::uint64_t total = 0;
    visit_dominated_objects(node, [&](ObjectId) { ++total; });
    return total;
}

void RetainedLookup::link_children() const {
    if (!first_child_.empty()) return;
    graph_.give_up_sources();  // who goes down the tree has walked before, if at all
    first_child_.assign(tree().reached(), not_met);
    next_sibling_.assign(tree().reached(), not_met);
    for (auto p = static_cast<std::uint32_t>(tree().reached()); p-- > 1;) {
        const std::uint32_t above = tree().dominator(p);
        next_sibling_[p] = first_child_[above];
        first_child_[above] = p;
    }
}

std::vector<NodeId> RetainedLookup::children(NodeId node, std::uint64_t least) const {
    if (node == last_parent_ && least == 0) return last_children_;
    link_children();
    struct Child {
        std::uint64_t memory;
        NodeId node;
    };
    std::vector<Child> children;
    const Preorder& preorder = graph_.preorder();
    if (preorder.position(node) == not_met) return {};
    for (std::uint32_t p = first_child_[preorder.position(node)]; p != not_met; p = next_sibling_[p])
        if (sizes_.memory[p] >= least) children.push_back({sizes_.memory[p], preorder.node_at(p)});
    std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
        return a.memory != b.memory ? a.memory > b.memory : a.node < b.node;
    });
    std::vector<NodeId> result;
    result.reserve(children.size());
    for (const Child& child : children) result.push_back(child.node);
    if (least == 0 && result.size() >= worth_keeping) {
        last_parent_ = node;
        last_children_ = result;
    }
    return result;
}

NodeId RetainedLookup::largest_child(NodeId node) const {
    link_children();
    const Preorder& preorder = graph_.preorder();
    NodeId best;
    std::uint64_t most = 0;
    if (preorder.position(node) == not_met) return no_node;
    for (std::uint32_t p = first_child_[preorder.position(node)]; p != not_met; p = next_sibling_[p]) {
        const NodeId child = preorder.node_at(p);
        if (best != no_node && (sizes_.memory[p] < most || (sizes_.memory[p] == most && child > best)))
            continue;
        best = child;
        most = sizes_.memory[p];
    }
    return best;
}

NodeId RetainedLookup::child_towards(NodeId above, NodeId node) const {
    const Preorder& preorder = graph_.preorder();
    const std::uint32_t top = preorder.position(above);
    std::uint32_t at = preorder.position(node);
    // Dominators have smaller numbers.
    while (at != not_met && at > top) {
        const std::uint32_t next = tree().dominator(at);
        if (next == top) return preorder.node_at(at);
        at = next;
    }
    return no_node;
}

bool RetainedLookup::dominates(NodeId above, NodeId node) const {
    return above == node || child_towards(above, node) != no_node;
}

GroupId RetainedLookup::group(NodeId node) const {
    const NodeId top = node == graph_.root() ? no_node : child_towards(graph_.root(), node);
    return top != no_node && graph_.kind(top) == NodeKind::group ? graph_.group_of(top) : no_group;
}

namespace {

/// Bits of up to 64 sets for every node, by position.
class ReachedWithout {
public:
    explicit ReachedWithout(const HeapGraph& graph)
        : graph_(graph), without_(graph.preorder().reached()), gone_(without_.size()) {}

    /// For the sets from this one on.
    void find(std::int32_t first_set, const std::function<std::int32_t(ObjectId)>& set_of) {
        std::fill(gone_.begin(), gone_.end(), no_set);
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            const std::int32_t set = set_of(object);
            if (set >= first_set && set < first_set + 64)
                gone_[graph_.position(object)] = static_cast<std::uint8_t>(set - first_set);
        }
        without_[0] = ~std::uint64_t{0};
        begin();
        collect_from_later();
        while (!again_.empty()) {
            const std::uint32_t position = again_.back();
            again_.pop_back();
            spread(position);
        }
    }
    /// The bit of set k: is the object reached without it?
    std::uint64_t operator[](ObjectId object) const { return without_[graph_.position(object)]; }
    void fetch(ObjectId object) const { __builtin_prefetch(&without_[graph_.position(object)]); }

private:
    static constexpr std::uint8_t no_set = 64;

    /// What a node lets in: all but its own set.
    std::uint64_t allowed(std::uint32_t position) const {
        return gone_[position] == no_set ? ~std::uint64_t{0} : ~(std::uint64_t{1} << gone_[position]);
    }

    /// Each node's bits from those before it, which have theirs.
    void begin() {
        const std::span<const std::uint32_t> parents = graph_.preorder().parents();
        graph_.sources().visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (p == 0) return;
                std::uint64_t bits = without_[parents[p]];
                for (const std::uint32_t source : sources) {
                    if (source > p) break;  // they ascend
                    bits |= without_[source];
                }
                without_[p] = bits & allowed(p);
            },
            [&](std::uint32_t source) { __builtin_prefetch(&without_[source]); });
    }

    /// Of those after it, most have nothing to add.
    void collect_from_later() {
        graph_.sources().visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                const std::uint64_t wanted = allowed(p) & ~without_[p];
                if (wanted == 0) return;
                std::uint64_t bits = 0;
                for (std::size_t i = sources.size(); i-- > 0 && sources[i] > p;) bits |= without_[sources[i]];
                if ((bits & wanted) == 0) return;
                without_[p] |= bits & wanted;
                again_.push_back(p);
            },
            [&](std::uint32_t source) { __builtin_prefetch(&without_[source]); });
    }

    void spread(std::uint32_t position) {
        const std::uint64_t bits = without_[position];
        const NodeId node = graph_.preorder().node_at(position);
        for (const NodeId target : graph_.targets(node)) {
            const std::uint32_t at = graph_.preorder().position(target);
            const std::uint64_t added = bits & allowed(at) & ~without_[at];
            if (added == 0 || !graph_.follows(node, position, target, at)) continue;
            without_[at] |= added;
            again_.push_back(at);
        }
    }

    const HeapGraph& graph_;
    std::vector<std::uint64_t> without_;
    std::vector<std::uint8_t> gone_;  // in which set it is
    std::vector<std::uint32_t> again_;
};

}  // namespace

std::vector<SetRetained> retained_by_sets(const HeapGraph& graph, std::size_t sets,
                                          const std::function<std::int32_t(ObjectId)>& set_of,
                                          const ProgressCallback& progress) {
    std::vector<SetRetained> result(sets);
    const SizeColumn& sizes = *graph.columns().sizes;
    const std::size_t objects = graph.object_count();
    static_cast<void>(graph.sources());  // made before several walks ask for them
    std::atomic<std::size_t> next = 0;
    std::mutex telling;
    const auto walk = [&](std::size_t) {
        ReachedWithout reached(graph);
        for (std::size_t first = 0; (first = 64 * next++) < sets;) {
            if (progress) {
                const std::lock_guard lock(telling);
                progress("what each type retains", static_cast<double>(first) / static_cast<double>(sets));
            }
            reached.find(static_cast<std::int32_t>(first), set_of);
            const std::size_t count = std::min<std::size_t>(64, sets - first);
            const std::uint64_t asked = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
            for (ObjectId object{0}; object < objects; ++object) {
                if (objects - object > ahead) reached.fetch(ObjectId(object + ahead));
                for (std::uint64_t freed = ~reached[object] & asked; freed != 0; freed &= freed - 1) {
                    SetRetained& row = result[first + static_cast<std::size_t>(std::countr_zero(freed))];
                    ++row.objects;
                    row.memory += sizes.memory(object);
                }
            }
        }
    };
    in_any_order(std::min({threads(), most_walks, (sets + 63) / 64}), walk);
    return result;
}

std::vector<ObjectId> retained_by(const HeapGraph& graph, NodeRow members) {
    std::vector<bool> reached(graph.node_count());
    for (const NodeId member : members) reached[member] = true;  // as if: it is not entered
    SearchStack stack;
    search(
        graph, graph.root(), [&](NodeId node) { return reached[node]; },
        [&](NodeId node) { reached[node] = true; }, stack);
    for (const NodeId member : members) reached[member] = false;
    std::vector<ObjectId> result;
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        if (!reached[object]) result.push_back(object);
    return result;
}

}  // namespace heapsift
