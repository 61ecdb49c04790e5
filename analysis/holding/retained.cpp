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
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <optional>

namespace heapsift {
namespace {

constexpr std::uint32_t not_met = Preorder::none;
// Children of one node: to sort fewer anew costs nothing.
constexpr std::size_t worth_keeping = 1024;
constexpr std::size_t ahead = 32;  // objects: how early what lies by position is prefetched
constexpr std::size_t objects_a_piece = 1 << 17;
// Sets whose numbers fit into a byte, with one that says "none": three walks.
constexpr std::size_t sets_a_walk = 64, sets_at_once = 3 * sets_a_walk;

}  // namespace

namespace {

/// Bytes by position that are added up along the dominators. In four bytes each, unless all of them together do
/// not fit into four: then the upper halves have an array of their own.
class RetainedSums {
public:
    explicit RetainedSums(std::size_t count) : lower_(count) {}

    void fetch(std::uint32_t position) const { __builtin_prefetch(&lower_[position], 1); }
    /// Puts each number in place: put(set), where `set(position, bytes)` puts one and may be called by several
    /// threads; put returns what all are together, or more.
    template <class Put>
    void fill(Put&& put) {
        const std::uint64_t total = put([&](std::uint32_t position, std::uint64_t bytes) {
            lower_[position] = static_cast<std::uint32_t>(bytes);
        });
        if (total <= std::numeric_limits<std::uint32_t>::max()) return;
        upper_.assign(lower_.size(), 0);
        put([&](std::uint32_t position, std::uint64_t bytes) {
            upper_[position] = static_cast<std::uint32_t>(bytes >> 32);
        });
    }
    void add_up(const DominatorTree& tree) {
        tree.visit_down([&](std::uint32_t p, std::uint32_t above) {
            const std::uint32_t own = lower_[p];
            if (own == 0 && (upper_.empty() || upper_[p] == 0)) return;  // nearly all of C code's
            lower_[above] += own;
            if (!upper_.empty()) upper_[above] += upper_[p] + (lower_[above] < own ? 1U : 0U);
        });
    }
    std::uint64_t operator[](std::size_t position) const {
        return upper_.empty() ? lower_[position] : std::uint64_t{upper_[position]} << 32 | lower_[position];
    }
    RankedColumn column() const {
        const std::uint32_t* const lower = lower_.data();
        if (upper_.empty()) return {lower_.size(), [lower](std::size_t at) { return lower[at]; }};
        return {lower_.size(), [this](std::size_t at) { return (*this)[at]; }};
    }

private:
    std::vector<std::uint32_t> lower_, upper_;
};

/// What both are together, or the largest number if that is more.
std::uint64_t sum_or_most(std::uint64_t a, std::uint64_t b) {
    return b > ~std::uint64_t{0} - a ? ~std::uint64_t{0} : a + b;
}

template <class Set>
std::uint64_t put_blocks(const HeapGraph& graph, Set&& set) {
    std::uint64_t total = 0;
    for (BlockId block{0}; block < graph.block_count(); ++block) {
        set(graph.preorder().position(graph.node_of(block)), graph.native()->bytes(block));
        total = sum_or_most(total, graph.native()->bytes(block));
    }
    return total;
}

/// What each node has by itself.
void put_own_bytes(const HeapGraph& graph, RetainedSums& memory) {
    const SizeColumn& sizes = *graph.columns().sizes;
    const std::size_t objects = graph.object_count();
    memory.fill([&](auto&& set) {
        std::uint64_t total = put_blocks(graph, set);
        std::mutex adding;
        in_any_order(piece_count(objects, objects_a_piece), [&](std::size_t piece) {
            const auto [begin, end] = piece_of(piece, objects, objects_a_piece);
            std::uint64_t of_piece = 0;
            for (ObjectId object(begin); object < end; ++object) {
                if (end - object > ahead) memory.fetch(graph.position(ObjectId(object + ahead)));
                const std::uint64_t bytes = sizes.memory(object);
                set(graph.position(object), bytes);
                of_piece = sum_or_most(of_piece, bytes);
            }
            const std::lock_guard lock(adding);
            total = sum_or_most(total, of_piece);
        });
        return total;
    });
}

}  // namespace

RetainedSizes retained_sizes(const HeapGraph& graph, const ProgressCallback& progress) {
    RetainedSizes retained;
    if (progress) progress("dominators", 0);
    static_cast<void>(graph.sources());  // made before its nodes' own bytes take room
    const std::size_t reached = graph.preorder().reached();
    std::optional<RetainedSums> memory;
    // The tree is one thread's work.
    in_any_order(2, [&](std::size_t part) {
        if (part == 0) {
            retained.tree = DominatorTree::build(graph.preorder(), graph.sources());
            return;
        }
        memory.emplace(reached);
        put_own_bytes(graph, *memory);
    });
    if (progress) progress("retained sizes", 0);
    // Sums go up the tree one by one; those of C code's blocks by themselves, on another thread.
    in_any_order(graph.block_count() > 0 ? 2 : 1, [&](std::size_t part) {
        if (part == 0) {
            memory->add_up(retained.tree);
            retained.memory = memory->column();
            memory.reset();
        } else {
            RetainedSums native(reached);
            native.fill([&](auto&& set) { return put_blocks(graph, set); });
            native.add_up(retained.tree);
            retained.native = SparseColumn(reached, [&](std::size_t at) { return native[at]; });
        }
    });
    return retained;
}

NodeId RetainedLookup::dominator(NodeId node) const {
    const std::uint32_t at = graph_.preorder().position(node);
    std::uint32_t above = at == not_met ? not_met : tree().dominator(at);
    while (above != not_met && is_block(above)) above = tree().dominator(above);
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

// Lists of all nodes cost as much as looking for the children of the root some ten times.
bool RetainedLookup::are_linked() const {
    if (next_sibling_.empty() && scanned_ > 2 * std::uint64_t{tree().reached()}) link_children();
    return !next_sibling_.empty();
}

void RetainedLookup::link_children() const {
    if (!next_sibling_.empty()) return;
    graph_.give_up_sources();  // who goes down the tree has walked before, if at all
    const auto reached = static_cast<std::uint32_t>(tree().reached());
    const auto block_at = [&](std::uint32_t p) { return graph_.block_of(graph_.preorder().node_at(p)); };
    std::vector<std::uint32_t> owners(graph_.block_count());  // the nearest dominator that is no block
    const auto owner = [&](std::uint32_t p) {
        const std::uint32_t above = tree().dominator(p);
        return is_block(above) ? owners[block_at(above)] : above;
    };
    parents_ = RankedSet(reached);
    for (std::uint32_t p = 1; p < reached; ++p) {
        const std::uint32_t above = owner(p);
        if (is_block(p))
            owners[block_at(p)] = above;
        else
            parents_.add(above);
    }
    parents_.finish();
    first_child_.assign(parents_.count(), not_met);
    next_sibling_.assign(reached, not_met);
    for (std::uint32_t p = reached; p-- > 1;) {
        const std::uint32_t above = owner(p);
        if (is_block(p)) {
            own_native_[above] += graph_.native()->bytes(block_at(p));
            continue;
        }
        std::uint32_t& first = first_child_[parents_.rank(above)];
        next_sibling_[p] = std::exchange(first, p);
    }
}

void RetainedLookup::list_own_blocks() const {
    if (!own_blocks_.empty()) return;
    const Preorder& preorder = graph_.preorder();
    std::vector<std::uint32_t> owners(graph_.block_count());
    for (std::uint32_t p = 1; p < preorder.reached(); ++p) {
        if (!is_block(p)) continue;
        const std::uint32_t above = tree().dominator(p);
        const std::uint32_t owner =
            is_block(above) ? owners[graph_.block_of(preorder.node_at(above))] : above;
        owners[graph_.block_of(preorder.node_at(p))] = owner;
        own_blocks_.push_back({owner, p});
    }
    std::sort(own_blocks_.begin(), own_blocks_.end());
}

void RetainedLookup::give_up_children() const {
    parents_ = RankedSet();
    // An empty list in braces would leave them their room.
    for (auto* list : {&first_child_, &next_sibling_}) *list = std::vector<std::uint32_t>();
    own_native_.clear();
    own_blocks_ = std::vector<OwnBlock>();
    last_parent_ = no_node;
    last_children_ = std::vector<NodeId>();
}

std::uint64_t RetainedLookup::own_native(NodeId node) const {
    link_children();
    const auto own = own_native_.find(graph_.preorder().position(node));
    return own == own_native_.end() ? 0 : own->second;
}

std::vector<NodeId> RetainedLookup::children(NodeId node, std::uint64_t least) const {
    if (node == last_parent_ && least == 0) return last_children_;
    link_children();
    const Preorder& preorder = graph_.preorder();
    if (preorder.position(node) == not_met) return {};
    const std::uint32_t first = first_child(preorder.position(node));
    std::size_t count = 0;  // exactly: a list may have a million, and twice the room is not to be had
    for (std::uint32_t p = first; p != not_met; p = next_sibling_[p])
        count += sizes_.memory[p] >= least ? 1 : 0;
    struct Child {
        std::uint32_t memory;  // what does not fit is asked of the column
        NodeId node;
    };
    constexpr std::uint32_t large = 0xffffffff;
    std::vector<Child> children;
    children.reserve(count);
    for (std::uint32_t p = first; p != not_met; p = next_sibling_[p])
        if (const std::uint64_t bytes = sizes_.memory[p]; bytes >= least)
            children.push_back(
                {static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, large)), preorder.node_at(p)});
    std::sort(children.begin(), children.end(), [&](const Child& a, const Child& b) {
        if (a.memory != b.memory) return a.memory > b.memory;
        const std::uint64_t of_a = a.memory == large ? memory(a.node) : 0,
                            of_b = a.memory == large ? memory(b.node) : 0;
        return of_a != of_b ? of_a > of_b : a.node < b.node;
    });
    std::vector<NodeId> result;
    result.reserve(children.size());
    for (const Child& child : children) result.push_back(child.node);
    children = std::vector<Child>();
    if (least == 0 && result.size() >= worth_keeping) {
        last_parent_ = node;
        last_children_ = result;
    }
    return result;
}

NodeId RetainedLookup::largest_child(NodeId node) const {
    NodeId best;
    std::uint64_t most = 0;
    visit_children_at(node, [&](std::uint32_t p) {
        const NodeId child = graph_.preorder().node_at(p);
        const std::uint64_t bytes = sizes_.memory[p];
        if (best != no_node && (bytes < most || (bytes == most && child > best))) return;
        best = child;
        most = bytes;
    });
    return best;
}

NodeId RetainedLookup::child_towards(NodeId above, NodeId node) const {
    const Preorder& preorder = graph_.preorder();
    const std::uint32_t top = preorder.position(above);
    std::uint32_t at = preorder.position(node), child = at;
    // Dominators have smaller numbers.
    while (at != not_met && at > top) {
        if (!is_block(at)) child = at;
        const std::uint32_t next = tree().dominator(at);
        if (next == top) return preorder.node_at(child);
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

/// In which of up to 192 sets each node is, by position.
class SetNumbers {
public:
    static constexpr std::uint8_t no_set = 0xff;

    explicit SetNumbers(const HeapGraph& graph) : graph_(graph), numbers_(graph.preorder().reached()) {}

    /// For the sets from this one on.
    void find(std::size_t first_set, const std::function<std::int32_t(ObjectId)>& set_of) {
        std::fill(numbers_.begin(), numbers_.end(), no_set);
        const std::size_t objects = graph_.object_count();
        in_any_order(piece_count(objects, objects_a_piece), [&](std::size_t piece) {
            const auto [begin, end] = piece_of(piece, objects, objects_a_piece);
            for (ObjectId object(begin); object < end; ++object) {
                if (end - object > ahead)
                    __builtin_prefetch(&numbers_[graph_.position(ObjectId(object + ahead))], 1);
                const std::int64_t set = set_of(object) - static_cast<std::int64_t>(first_set);
                if (set >= 0 && set < static_cast<std::int64_t>(sets_at_once))
                    numbers_[graph_.position(object)] = static_cast<std::uint8_t>(set);
            }
        });
    }
    std::uint8_t operator[](std::uint32_t position) const { return numbers_[position]; }

private:
    const HeapGraph& graph_;
    std::vector<std::uint8_t> numbers_;
};

/// Bits of up to 64 sets: kept for every node that leads to another, by its place among these.
class ReachedWithout {
public:
    /// `walk`: for 64 sets each.
    ReachedWithout(const HeapGraph& graph, const SetNumbers& sets, std::size_t walk)
        : graph_(graph),
          sets_(sets),
          first_set_(walk * sets_a_walk),
          inner_(graph.sources().inner()),
          parents_(graph.preorder().parents()),
          without_(inner_.count()) {
        if (without_.empty()) return;
        without_[0] = ~std::uint64_t{0};
        begin();
        collect_from_later();
        while (!again_.empty()) {
            const std::uint32_t position = again_.back();
            again_.pop_back();
            spread(position);
        }
    }
    /// visit(position, bits) for each node but the root of [first, end), in preorder; bit k: is it reached without
    /// set k? `first`: a multiple of SourceRows::rows_a_mark.
    template <class F>
    void visit(std::size_t first, std::size_t end, F&& visit) const {
        std::uint32_t place = inner_.rank(std::max<std::size_t>(first, 1));
        Parent parent(*this);
        graph_.sources().visit_up(
            first, end,
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (p == 0) return;
                if (inner_.has(p)) return visit(p, without_[place++]);
                std::uint64_t bits = parent.bits(p);
                for (const std::uint32_t source : sources) bits |= without_[inner_.rank(source)];
                visit(p, bits & allowed(p));
            },
            [&](std::uint32_t source) { fetch(source); });
    }

private:
    /// What a node lets in: all but its own set.
    std::uint64_t allowed(std::uint32_t position) const {
        const std::size_t set = sets_[position] - first_set_;  // far above 64 if it is smaller
        return set < sets_a_walk ? ~(std::uint64_t{1} << set) : ~std::uint64_t{0};
    }
    void fetch(std::uint32_t source) const { __builtin_prefetch(&without_[inner_.rank(source)]); }

    /// The bits of a node's parent, which is often that of the node before.
    class Parent {
    public:
        explicit Parent(const ReachedWithout& all) : all_(all) {}
        std::uint64_t bits(std::uint32_t position) {
            if (all_.parents_[position] != parent_) {
                parent_ = all_.parents_[position];
                bits_ = all_.without_[all_.inner_.rank(parent_)];
            }
            return bits_;
        }

    private:
        const ReachedWithout& all_;
        std::uint32_t parent_ = not_met;
        std::uint64_t bits_ = 0;
    };

    /// Each node's bits from those before it, which have theirs.
    void begin() {
        std::uint32_t place = 1;
        Parent parent(*this);
        graph_.sources().visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (p == 0 || !inner_.has(p)) return;
                std::uint64_t bits = parent.bits(p);
                for (const std::uint32_t source : sources) {
                    if (source > p) break;  // they ascend
                    bits |= without_[inner_.rank(source)];
                }
                without_[place++] = bits & allowed(p);
            },
            [&](std::uint32_t source) { fetch(source); });
    }

    /// Of those after it, most have nothing to add.
    void collect_from_later() {
        std::uint32_t place = 0;
        graph_.sources().visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (!inner_.has(p)) return;
                std::uint64_t& own = without_[place++];
                if (sources.empty() || sources.back() < p) return;
                const std::uint64_t wanted = allowed(p) & ~own;
                if (wanted == 0) return;
                std::uint64_t bits = 0;
                for (std::size_t i = sources.size(); i-- > 0 && sources[i] > p;)
                    bits |= without_[inner_.rank(sources[i])];
                if ((bits & wanted) == 0) return;
                own |= bits & wanted;
                again_.push_back(p);
            },
            [](std::uint32_t) {});
    }

    void spread(std::uint32_t position) {
        const std::uint64_t bits = without_[inner_.rank(position)];
        const NodeId node = graph_.preorder().node_at(position);
        for (const NodeId target : graph_.targets(node)) {
            const std::uint32_t at = graph_.preorder().position(target);
            if (!inner_.has(at)) continue;
            std::uint64_t& known = without_[inner_.rank(at)];
            const std::uint64_t added = bits & allowed(at) & ~known;
            if (added == 0 || !graph_.follows(node, position, target, at)) continue;
            known |= added;
            again_.push_back(at);
        }
    }

    const HeapGraph& graph_;
    const SetNumbers& sets_;
    std::size_t first_set_;
    const RankedSet& inner_;
    std::span<const std::uint32_t> parents_;
    std::vector<std::uint64_t> without_;  // by place among `inner_`
    std::vector<std::uint32_t> again_;    // positions
};

constexpr std::size_t positions_a_piece = 8 * SourceRows::rows_a_mark;

/// Adds what each of the sets retains; `rows` are theirs, up to 64.
void add_retained_by(const HeapGraph& graph, const ReachedWithout& reached, std::span<SetRetained> rows) {
    const SizeColumn& sizes = *graph.columns().sizes;
    const Preorder& preorder = graph.preorder();
    const std::uint64_t asked =
        rows.size() == sets_a_walk ? ~std::uint64_t{0} : (std::uint64_t{1} << rows.size()) - 1;
    using Rows = std::array<SetRetained, sets_a_walk>;
    const auto add = [&](std::uint32_t p, std::uint64_t bits, Rows& some) {
        if (preorder.reached() - p > ahead) {
            const NodeId later = preorder.node_at(p + ahead);
            if (later < graph.object_count()) sizes.fetch(graph.object_of(later));
        }
        std::uint64_t freed = ~bits & asked;
        if (freed == 0) return;
        const NodeId node = preorder.node_at(p);
        const NodeKind kind = graph.kind(node);
        if (kind != NodeKind::object && kind != NodeKind::block) return;
        const bool is_block = kind == NodeKind::block;
        const std::uint64_t memory =
            is_block ? graph.native()->bytes(graph.block_of(node)) : sizes.memory(graph.object_of(node));
        for (; freed != 0; freed &= freed - 1) {
            SetRetained& row = some[static_cast<std::size_t>(std::countr_zero(freed))];
            row.objects += is_block ? 0 : 1;
            row.memory += memory;
            row.native += is_block ? memory : 0;
        }
    };
    in_pieces<Rows>(
        piece_count(preorder.reached(), positions_a_piece),
        [&](std::size_t piece, Rows& some) {
            some = {};
            const auto [begin, end] = piece_of(piece, preorder.reached(), positions_a_piece);
            reached.visit(begin, end, [&](std::uint32_t p, std::uint64_t bits) { add(p, bits, some); });
        },
        [&](std::size_t, const Rows& some) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                rows[i].objects += some[i].objects;
                rows[i].memory += some[i].memory;
                rows[i].native += some[i].native;
            }
        });
}

}  // namespace

std::vector<SetRetained> retained_by_sets(const HeapGraph& graph, std::size_t sets,
                                          const std::function<std::int32_t(ObjectId)>& set_of,
                                          const ProgressCallback& progress) {
    std::vector<SetRetained> result(sets);
    if (sets == 0) return result;
    static_cast<void>(graph.sources());  // made before several walks ask for them
    SetNumbers numbers(graph);
    std::mutex telling;
    for (std::size_t first = 0; first < sets; first += sets_at_once) {
        const std::size_t count = std::min(sets_at_once, sets - first);
        numbers.find(first, set_of);
        in_any_order(piece_count(count, sets_a_walk), [&](std::size_t walk) {
            const auto [begin, end] = piece_of(walk, count, sets_a_walk);
            if (progress) {
                const std::lock_guard lock(telling);
                progress("what each type retains",
                         static_cast<double>(first + begin) / static_cast<double>(sets));
            }
            const ReachedWithout reached(graph, numbers, walk);
            add_retained_by(graph, reached, std::span(result).subspan(first + begin, end - begin));
        });
    }
    return result;
}

RetainedSet retained_by(const HeapGraph& graph, NodeRow members) {
    std::vector<bool> reached(graph.node_count());
    for (const NodeId member : members) reached[member] = true;  // as if: it is not entered
    SearchStack stack;
    search(
        graph, graph.root(), [&](NodeId node) { return reached[node]; },
        [&](NodeId node) { reached[node] = true; }, stack);
    for (const NodeId member : members) reached[member] = false;
    RetainedSet result;
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        if (!reached[object]) result.objects.push_back(object);
    for (BlockId block{0}; block < graph.block_count(); ++block)
        if (!reached[graph.node_of(block)]) result.native += graph.native()->bytes(block);
    return result;
}

}  // namespace heapsift
