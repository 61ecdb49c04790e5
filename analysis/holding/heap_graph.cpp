// What counts as a root, and in which order (tried on real heaps; other orders were worse):
//
// 1. What the interpreter names (RootSet), and words of C code that point at an object whose count has room
//    for them. They hang below groups that a person knows; each frame is a node of its own below its thread.
// 2. Last resort: of the objects that none of these reaches, those with references that were not found. If
//    one leads to another, the first is enough. (An unexplained count on an object that is reached does not
//    make it a root: there are thousands, and each would take memory from its real holder.)
// 3. Immortal objects that nothing reaches: they are never freed.
// 4. The rest is garbage. It hangs below a group of its own: every member of each component that no other
//    garbage leads to. Its references to what is alive are not followed: garbage holds nothing.
//
// Blocks of C code hang where objects' words lead to them (parsers/snapshot/native_blocks.cpp), those that no object
// reaches below the group of the library whose variable leads there. An object that only a block's word holds
// hangs below that block, not below C code.
//
// All of this is one depth-first walk: what is hung below the virtual root later is walked later, and so the
// numbering tells which is which.

#include "analysis/holding/heap_graph.h"

#include "analysis/graph/components.h"
#include "analysis/graph/search.h"
#include "parsers/index/index_file.h"
#include "parsers/libraries/greenlets.h"

#include <algorithm>
#include <type_traits>

namespace heapsift {

HeapGraph::HeapGraph(const HeapReader& heap, const ProgressCallback& progress, IndexFile* index)
    : heap_(heap),
      references_(*heap.snapshot().references),
      root_set_(*heap.snapshot().roots),
      structural_(structural_targets(heap.snapshot())),
      native_(heap.snapshot().native_graph.there() ? &*heap.snapshot().native_graph : nullptr),
      object_count_(heap.snapshot().object_count()),
      root_(object_count_ + block_count()) {
    if (progress) progress("groups", 0);
    place_roots();
    make_nodes();
    if (!index || !read_walk(*index)) {
        if (progress) progress("what the roots reach", 0);
        preorder_ = Preorder(node_count());
        preorder_.walk(*this, root());
        add_held();
        add_immortal();
        add_unreachable();
        add_left_blocks();
    }
    sort_roots();
}

/// By object, those of one in the order in which they were placed. There may be a million, and they are large: their
/// numbers are sorted.
void HeapGraph::sort_roots() {
    std::vector<std::uint64_t> order;
    order.reserve(roots_.size());
    for (std::size_t i = 0; i < roots_.size(); ++i)
        order.push_back(std::uint64_t{roots_[i].root.object} << 32 | i);
    std::sort(order.begin(), order.end());
    std::vector<PlacedRoot> sorted;
    sorted.reserve(roots_.size());
    for (const std::uint64_t one : order) sorted.push_back(roots_[static_cast<std::uint32_t>(one)]);
    roots_ = std::move(sorted);
}

// At first `parent` is a group's number: nodes are numbered once all groups are known.
void HeapGraph::place_roots() {
    GroupFinder groups(heap_, root_set_);
    roots_.reserve(root_set_.roots().size() + references_.natives().size() +
                   (native_ ? native_->held().size() : 0));
    for (const Root& root : root_set_.roots())
        roots_.push_back({root, NodeId(std::uint32_t{groups.of(root)})});
    // slots of frames that are locals or the like: known by more than their words
    std::vector<Address> named;
    for (const Root& root : root_set_.roots())
        if (root.frame >= 0 && !root.word.is_null()) named.push_back(root.word);
    std::sort(named.begin(), named.end());
    if (native_) held_.assign(native_->held().begin(), native_->held().end());
    std::erase_if(held_, [&](const NativeGraph::Held& one) {
        return std::binary_search(named.begin(), named.end(), one.word);
    });
    std::vector<NativeGraph::Held> held = held_;
    std::sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.word < b.word; });
    const auto place = [&](const Root& root, NativePlace where, NodeId block) {
        roots_.push_back({root, NodeId(std::uint32_t{groups.of_native(root, where)}), block});
    };
    auto next = held.begin();
    for (const NativeReference& native : references_.natives()) {
        if (std::binary_search(named.begin(), named.end(), native.word)) continue;
        for (; next != held.end() && next->word < native.word; ++next)
            place({.object = next->object, .kind = RootKind::native, .word = next->word}, NativePlace::block,
                  node_of(next->block));
        const bool is_held = next != held.end() && next->word == native.word;
        place(groups.native_root(native), native.place, is_held ? node_of((next++)->block) : no_node);
    }
    for (; next != held.end(); ++next)  // marked pointers, which are not among the references
        place({.object = next->object, .kind = RootKind::native, .word = next->word}, NativePlace::block,
              node_of(next->block));
    if (native_)
        for (const NativeGraph::Entry& entry : native_->entries())
            native_entries_.push_back({node_of(entry.block), groups.of_blocks(entry)});
    groups_ = groups.take();
}

// An object's own row is its references, and then the blocks that it owns; a block's, the blocks to which it leads
// and the objects that it holds.
void HeapGraph::overlay_rows() {
    if (!native_) return;
    overlay_.begin(root());
    for (std::size_t at = 0; at < native_->owners().size(); ++at) {
        const ObjectId owner = native_->owners()[at].object;
        overlay_.add_row(node_of(owner));
        for (const ObjectId target : references_.targets(owner)) overlay_.add(node_of(target));
        for (const std::uint32_t block : native_->owned(at)) overlay_.add(NodeId(block));
    }
    for (std::size_t at = 0; at < held_.size();) {
        const BlockId block = held_[at].block;
        overlay_.add_row(node_of(block));
        for (const std::uint32_t target : native_->targets(block)) overlay_.add(NodeId(target));
        for (; at < held_.size() && held_[at].block == block; ++at)
            if (!is_structural(node_of(held_[at].object))) overlay_.add(node_of(held_[at].object));
    }
    held_ = {};
    overlay_.finish();
}

// There are none, unless an index says other things than the heap.
void HeapGraph::add_left_blocks() {
    for (BlockId block{0}; block < block_count(); ++block) {
        if (preorder_.position(node_of(block)) != Preorder::none) continue;
        extra_targets_[0].push_back(node_of(block));
        preorder_.walk(*this, node_of(block), 0);
    }
}

void HeapGraph::make_nodes() {
    const std::size_t group_count = groups_.all.size();
    first_frame_ = NodeId(root() + 1 + group_count);
    std::vector<NodeId> first_of_thread;
    for (std::size_t t = 0; t < root_set_.threads().size(); ++t) {
        first_of_thread.push_back(NodeId(first_frame_ + frames_.size()));
        for (std::size_t f = 0; f < root_set_.threads()[t].frames.size(); ++f)
            frames_.push_back({static_cast<std::int32_t>(t), static_cast<std::int32_t>(f)});
    }
    extra_targets_.resize(1 + group_count + frames_.size());
    for (const GroupId group : groups_.all.ids())
        if (group != groups_.held && group != groups_.immortal && group != groups_.unreachable)
            extra_targets_[0].push_back(node_of(group));
    structural_bits_ = ZeroedArray<std::uint64_t>(root() / 64 + 1);
    const auto mark = [&](Address address) {
        if (const ObjectId object = columns().find(address); object != no_object)
            structural_bits_[object / 64] |= std::uint64_t{1} << (object % 64);
    };
    for (const Address address : structural_.listed) mark(address);
    for (const auto& [owner, target] : structural_.owners) {
        const ObjectId from = columns().find(owner),
                       to = target.is_null() ? no_object : columns().find(target);
        if (from != no_object && to != no_object) owners_.emplace_back(node_of(from), node_of(to));
    }
    std::sort(owners_.begin(), owners_.end());
    overlay_rows();
    for (const NativeEntry& entry : native_entries_) below(entry.group).push_back(entry.block);
    std::vector<bool> hangs(frames_.size());
    for (PlacedRoot& placed : roots_) {
        const Root& root = placed.root;
        placed.parent = node_of(GroupId(std::uint32_t{placed.parent}));
        if (root.frame >= 0) {
            const NodeId frame(first_of_thread[static_cast<std::size_t>(root.thread)] +
                               static_cast<std::uint32_t>(root.frame));
            if (!hangs[frame - first_frame_]) extra_targets_[placed.parent - root_].push_back(frame);
            hangs[frame - first_frame_] = true;
            placed.parent = frame;
        }
        if (placed.block != no_node) continue;
        if (!is_structural(node_of(root.object)) || is_own_root(root))
            extra_targets_[placed.parent - root_].push_back(node_of(root.object));
    }
}

// A local that is a module, or the module dict in which a frame runs, does not make the frame a holder of
// everything in it.
bool HeapGraph::is_own_root(const Root& root) {
    return root.kind == RootKind::module || root.kind == RootKind::static_type ||
           root.kind == RootKind::thread_local_ ||
           (root.kind == RootKind::frame && root.name.is_null() && !*root.text);
}

bool HeapGraph::is_owner(NodeId source, NodeId target) const {
    return std::binary_search(owners_.begin(), owners_.end(), std::pair(source, target));
}

void HeapGraph::hang(GroupId group, const std::vector<ObjectId>& objects) {
    const NodeId node = node_of(group);
    std::vector<NodeId>& those = below(group);
    those.clear();
    for (const ObjectId object : objects) those.push_back(node_of(object));
    extra_targets_[0].push_back(node);
    preorder_.walk(*this, node, 0);
}

namespace {

/// As few of `candidates` as together reach all the others without passing through what `met` has met; in
/// order.
template <class Met>
std::vector<ObjectId> without_the_led_to(const HeapGraph& graph, const std::vector<ObjectId>& candidates,
                                         Met met) {
    std::vector<ObjectId> chosen = candidates;
    // First drops those that an earlier one reaches, then those that a later one reaches.
    for (int direction = 0; direction < 2 && chosen.size() > 1; ++direction) {
        std::vector<bool> seen(graph.node_count());
        std::vector<ObjectId> kept;
        SearchStack stack;
        for (const ObjectId candidate : chosen) {
            if (seen[candidate]) continue;
            kept.push_back(candidate);
            search(
                graph, HeapGraph::node_of(candidate),
                [&](NodeId node) { return seen[node] || met(HeapGraph::object_of(node)); },
                [&](NodeId node) { seen[node] = true; }, stack);
        }
        chosen.assign(kept.rbegin(), kept.rend());
    }
    return chosen;
}

}  // namespace

// A greenlet that waits is never garbage to the collector (greenlet's green_is_gc), and who will wake it may have no
// reference to it that could be told: a timer of libev counts as one what seems to be a word on its stack. So each is
// held by itself.
std::vector<ObjectId> HeapGraph::waiting_greenlets() const {
    std::vector<bool> is_one;
    for (const TypeInfo& type : columns().types) is_one.push_back(is_greenlet(type));
    std::vector<ObjectId> waiting;
    if (std::find(is_one.begin(), is_one.end(), true) == is_one.end()) return waiting;
    for (ObjectId object{0}; object < object_count_; ++object) {
        const TypeId type = columns().type_of(object);
        if (met(object) || type == no_type || !is_one[type]) continue;
        const auto facts =
            greenlet_facts({heap_.python_heap(), columns().address_of(object), columns().type_info(object)});
        if (facts && facts->state == GreenletFacts::State::suspended) waiting.push_back(object);
    }
    return waiting;
}

void HeapGraph::add_held() {
    first_held_ = static_cast<std::uint32_t>(preorder_.reached());
    std::vector<ObjectId> held = waiting_greenlets();
    std::vector<bool> led_to(held.empty() ? 0 : node_count());
    SearchStack stack;
    for (const ObjectId greenlet : held)
        search(
            *this, node_of(greenlet), [&](NodeId node) { return led_to[node] || met(object_of(node)); },
            [&](NodeId node) { led_to[node] = true; }, stack);
    std::vector<ObjectId> candidates;
    for (ObjectId object{0}; object < object_count_; ++object) {
        if (met(object) || (!led_to.empty() && led_to[node_of(object)])) continue;
        const ObjectFacts facts = heap_.facts(object);
        if (!facts.immortal && facts.refcount > static_cast<std::int64_t>(references_.found(object)))
            candidates.push_back(object);
    }
    for (const ObjectId object :
         without_the_led_to(*this, candidates, [&](ObjectId object) { return met(object); }))
        held.push_back(object);
    for (const ObjectId object : held)
        roots_.push_back({{.object = object, .kind = RootKind::native_unseen}, node_of(groups_.held)});
    if (!held.empty()) hang(groups_.held, held);
}

void HeapGraph::add_immortal() {
    first_immortal_only_ = static_cast<std::uint32_t>(preorder_.reached());
    std::vector<ObjectId> immortal;
    for (ObjectId object{0}; object < object_count_; ++object)
        if (!met(object) && heap_.facts(object).immortal) immortal.push_back(object);
    for (const ObjectId object : immortal)
        roots_.push_back({{.object = object, .kind = RootKind::immortal}, node_of(groups_.immortal)});
    if (!immortal.empty()) hang(groups_.immortal, immortal);
}

void HeapGraph::add_unreachable() {
    for (ObjectId object{0}; object < object_count_; ++object) unreachable_count_ += !met(object);
    first_unreachable_ = static_cast<std::uint32_t>(preorder_.reached());
    if (unreachable_count_ == 0) return;
    const auto garbage = [&](ObjectId object) { return !met(object); };
    const Components components = strong_components(
        *this, [&](NodeId node) { return node < object_count_ && garbage(object_of(node)); });
    const auto component = [&](ObjectId object) { return components.of_node[node_of(object)]; };
    std::vector<bool> led_to(components.count);
    for (ObjectId object{0}; object < object_count_; ++object) {
        if (!garbage(object)) continue;
        const std::uint32_t own = component(object);
        for (const ObjectId target : targets(object))
            if (garbage(target) && component(target) != own && follows(object, target))
                led_to[component(target)] = true;
    }
    std::vector<ObjectId> sources;
    for (ObjectId object{0}; object < object_count_; ++object)
        if (garbage(object) && !led_to[component(object)]) sources.push_back(object);
    hang(groups_.unreachable, sources);
}

const SourceRows& HeapGraph::sources() const {
    if (!sources_) sources_ = SourceRows::build(*this, preorder_);
    return *sources_;
}

// What hangs below the three groups that are found by the walk, and the walk itself.
template <class Self, class Part>
void HeapGraph::walk_fields(Self& self, Part& part) {
    std::uint64_t nodes = self.node_count();
    part.number(nodes);
    part.require(nodes == self.node_count(), "there are other groups or frames now");
    for (const GroupId group : {self.groups_.held, self.groups_.immortal, self.groups_.unreachable})
        part.list(self.below(group), [&](auto& node, Part& p) {
            p.number(node);
            p.require(node < self.object_count_, "what hangs below a group is no object");
        });
    for (auto* number : {&self.first_held_, &self.first_immortal_only_, &self.first_unreachable_})
        part.number(*number);
    part.number(self.unreachable_count_);
    Preorder::fields(self.preorder_, part, self.node_count());
    if constexpr (std::remove_reference_t<Part>::reading)
        for (ObjectId object{0}; part.checks() && object < self.object_count_; ++object)
            part.require(self.met(object), "an object is not below the root");
    if constexpr (std::remove_reference_t<Part>::reading)
        for (BlockId block{0}; part.checks() && block < self.block_count(); ++block)
            part.require(self.preorder_.position(self.node_of(block)) != Preorder::none,
                         "a block is not below the root");
}

void HeapGraph::write_walk(PartWriter& part) const { walk_fields(*this, part); }

bool HeapGraph::read_walk(IndexFile& index) {
    if (!index.read(part_name, [&](PartReader& part) { walk_fields(*this, part); })) {
        for (const GroupId group : {groups_.held, groups_.immortal, groups_.unreachable})
            below(group).clear();
        first_held_ = first_immortal_only_ = first_unreachable_ = Preorder::none;
        unreachable_count_ = 0;
        return false;
    }
    const auto hangs = [&](GroupId group, std::optional<RootKind> kind) {
        if (below(group).empty()) return;
        extra_targets_[0].push_back(node_of(group));
        if (!kind) return;
        for (const NodeId node : below(group))
            roots_.push_back({{.object = object_of(node), .kind = *kind}, node_of(group)});
    };
    hangs(groups_.held, RootKind::native_unseen);
    hangs(groups_.immortal, RootKind::immortal);
    hangs(groups_.unreachable, std::nullopt);
    return true;
}

std::span<const HeapGraph::PlacedRoot> HeapGraph::roots_of(ObjectId object) const {
    const auto [first, last] =
        std::equal_range(roots_.begin(), roots_.end(), object, [](const auto& a, const auto& b) {
            if constexpr (std::is_same_v<std::decay_t<decltype(a)>, PlacedRoot>)
                return a.root.object < b;
            else
                return a < b.root.object;
        });
    return {first, last};
}

}  // namespace heapsift
