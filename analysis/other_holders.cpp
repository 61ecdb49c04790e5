// An object counts under one holder, that of its cheapest path. It is freed with that holder only if no other
// reference keeps it: so each further reference to it names another holder, except those from objects that it
// dominates itself, since these go with it (the child's `.parent`). The same holds for the containers between
// a holder and its object: a dict that two caches share is held by both, and so is all that is in the dict.
//
// Labels of other holders are found as those of the paths are (holder_labels.h), and few combinations of them
// occur: each is kept once, as a numbered set. An interned string may have a million holders; a set has at most
// eight, and a flag says that there are more.

#include "analysis/other_holders.h"

#include "parsers/cpython/object_kind.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_labels = 8, most_sets = 200'000;
const OtherHolders::Set too_many = {.labels = {}, .more = true};

/// True for a root that says nothing about who holds the object.
bool is_no_holder(const Root& root) {
    return root.kind == RootKind::immortal || root.kind == RootKind::static_type;
}

/// True for what a class and its instances have of each other.
bool is_of_classes(const ReferenceName& name) {
    if (name.form != ReferenceName::Form::text) return false;
    switch (name.text.field) {
        case Field::class_:
        case Field::mro:
        case Field::bases:
        case Field::base:
        case Field::subclasses:
        case Field::type_cache:
            return true;
        default:
            return false;
    }
}

}  // namespace

/// Which nodes a node dominates: those of a range, if they are numbered in an order of the tree. It is asked of nodes
/// that lead to others, and of blocks; what dominates none of these needs no number: a record of numbers and texts
/// does not. What has none is dominated by what dominates its dominator.
class OtherHolders::DominatedRanges {
public:
    DominatedRanges(const HeapGraph& graph, const DominatorTree& tree) : tree_(tree), inner_(tree.reached()) {
        const auto reached = static_cast<std::uint32_t>(tree.reached());
        for (std::uint32_t p = 1; p < reached; ++p) {
            const NodeId node = graph.preorder().node_at(p);
            if (!graph.targets(node).empty() || graph.kind(node) == NodeKind::block)
                inner_.add(tree.dominator(p));
        }
        inner_.finish();
        ranges_.resize(inner_.count());
        for (std::uint32_t p = reached, place = inner_.count(); p-- > 1;)
            if (inner_.has(p)) ranges_[inner_.rank(tree.dominator(p))].past += ranges_[--place].past;
        for (std::uint32_t p = 0, place = 0; p < reached; ++p) {
            if (!inner_.has(p)) continue;
            Range& own = ranges_[place++];
            if (p > 0) {
                std::uint32_t& next = ranges_[inner_.rank(tree.dominator(p))].past;
                own.first = next;
                next += own.past;
            }
            own.past = own.first + 1;  // grows as those that it dominates are placed
        }
    }

    /// By position; true for the node itself. `below` leads to something, or is a block.
    bool dominates(std::uint32_t above, std::uint32_t below) const {
        if (above >= below) return above == below;
        if (!inner_.has(above)) return false;
        const Range& range = ranges_[inner_.rank(above)];
        const std::uint32_t nearest = inner_.has(below) ? below : tree_.dominator(below);
        if (!inner_.has(nearest)) return false;
        const std::uint32_t number = ranges_[inner_.rank(nearest)].first;
        return range.first <= number && number < range.past;
    }

private:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t past = 1;  // at first how many there are
    };
    const DominatorTree& tree_;
    RankedSet inner_;            // positions of those that have a number
    std::vector<Range> ranges_;  // by place among these
};

/// Meets the references of one object after another.
class OtherHolders::References final : public OwnedReferenceVisitor {
public:
    References(OtherHolders& found, const RetainedSizes& sizes)
        : found_(found), ranges_(found.graph_, sizes.tree) {}

    /// Names of references cost ten times what their targets do, and most objects have but one holder.
    void of(ObjectId source) {
        source_ = source;
        const auto targets = found_.graph_.targets(source);
        if (std::any_of(targets.begin(), targets.end(), [&](ObjectId target) { return is_further(target); }))
            found_.graph_.heap().visit_owned_references(source, *this);
    }
    void visit(ObjectId target, const ReferenceName& name) override {
        if (is_further(target) && !is_of_classes(name))
            found_.add(target, found_.labels_.label_by(source_, target, name));
    }
    /// Whether the source is one more holder of an object that is looked at.
    bool is_further(ObjectId target) const {
        const HeapGraph& graph = found_.graph_;
        return found_.looked_at_[target] && found_.labels_.paths().previous(target) != source_ &&
               graph.follows(source_, target) &&
               !ranges_.dominates(graph.position(target), graph.position(source_));
    }
    void roots_of(ObjectId object) {
        const HeapGraph& graph = found_.graph_;
        const auto roots = graph.roots_of(object);
        if (roots.empty()) return;
        const bool at_root = found_.labels_.paths().previous(object) == no_object;
        const HeapGraph::PlacedRoot* own = at_root ? &cheapest_root(graph, object) : nullptr;
        for (const HeapGraph::PlacedRoot& root : roots) {
            const bool goes_with_it =
                root.block != no_node &&
                ranges_.dominates(graph.position(object), graph.preorder().position(root.block));
            if (&root == own || is_no_holder(root.root) || goes_with_it) continue;
            found_.add(object, found_.labels_.label_by(root));
        }
    }

private:
    OtherHolders& found_;
    DominatedRanges ranges_;
    ObjectId source_ = no_object;
};

OtherHolders::OtherHolders(const HeapGraph& graph, const RetainedSizes& sizes, HolderLabeler& labels,
                           const std::vector<bool>& wanted, const ProgressCallback& progress)
    : graph_(graph), labels_(labels), set_of_(graph.object_count(), 0) {
    graph.give_up_sources();  // sets were walked before
    numbered({});
    numbered(too_many);
    want_what_passes_on(wanted);
    {
        References references(*this, sizes);
        const std::vector<NodeId>& order = labels_.paths().order();
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (progress && i % (1 << 18) == 0)
                progress("other holders", static_cast<double>(i) / static_cast<double>(order.size()));
            const ObjectId object = HeapGraph::object_of(order[i]);
            references.of(object);
            if (looked_at_[object]) references.roots_of(object);
        }
    }
    pass_on();
}

/// Modules, their globals and classes are left out: they stay, whoever else refers to them.
void OtherHolders::want_what_passes_on(const std::vector<bool>& wanted) {
    looked_at_ = wanted;
    const std::vector<NodeId>& order = labels_.paths().order();
    for (std::size_t i = order.size(); i-- > 0;) {
        const ObjectId object = HeapGraph::object_of(order[i]);
        if (graph_.is_structural(object)) looked_at_[object] = false;
        const ObjectId above = labels_.paths().previous(object);
        if (looked_at_[object] && above != no_object && labels_.passes_on(above)) looked_at_[above] = true;
    }
}

/// What holds a container holds what is in it.
void OtherHolders::pass_on() {
    for (const NodeId node : labels_.paths().order()) {
        const ObjectId object = HeapGraph::object_of(node);
        const ObjectId above = labels_.paths().previous(object);
        if (!looked_at_[object] || above == no_object || set_of_[above] == 0 || !labels_.passes_on(above))
            continue;
        const Set held = sets_[set_of_[above]];  // a copy: sets are added
        for (const std::uint32_t label : held.labels) add(object, labels_.label_below(label, object));
        if (held.more) add(object, HolderLabeler::none);
    }
}

void OtherHolders::add(ObjectId object, std::uint32_t label) {
    set_of_.set(object, with(set_of_[object], label));
}

/// Of `none` as a label: with more of them.
std::uint32_t OtherHolders::with(std::uint32_t set, std::uint32_t label) {
    const Set& before = sets_[set];
    const bool has = std::binary_search(before.labels.begin(), before.labels.end(), label);
    if (has || (before.more && (label == HolderLabeler::none || before.labels.size() >= most_labels)))
        return set;
    const auto known = sums_.find({set, label});
    if (known != sums_.end()) return known->second;
    Set sum = before;
    if (label == HolderLabeler::none || sum.labels.size() >= most_labels)
        sum.more = true;
    else
        sum.labels.insert(std::lower_bound(sum.labels.begin(), sum.labels.end(), label), label);
    const std::uint32_t number = numbered(sum);
    if (sets_.size() < most_sets) sums_.emplace(std::pair(set, label), number);
    return number;
}

std::uint32_t OtherHolders::numbered(const Set& set) {
    const auto key = std::pair(set.labels, set.more);
    if (const auto at = numbers_.find(key); at != numbers_.end()) return at->second;
    if (sets_.size() >= most_sets) return numbered(too_many);
    sets_.push_back(set);
    const auto number = static_cast<std::uint32_t>(sets_.size() - 1);
    numbers_.emplace(key, number);
    return number;
}

}  // namespace heapsift
