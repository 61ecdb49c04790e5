// Going down from a group one comes to the object that a person means: not the module that holds the cache,
// nor one of the cache's entries, but the cache. That is where no child has most of it any more. A linked
// list is its first node, not its last. Where most of it is held by several children together, these are the
// answer.

#include "analysis/holder_search.h"

#include "analysis/object_paths.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heapsift {
namespace {

constexpr double most_of = 0.5;
constexpr int least_chain = 3;
constexpr std::size_t most_attributes = 16;
constexpr std::size_t most_places = 1000;  // below one node

class HolderSearch {
public:
    HolderSearch(const RetainedLookup& retained, std::uint64_t least)
        : retained_(retained),
          graph_(retained.graph()),
          heap_(graph_.heap()),
          modules_(graph_),
          joint_holders_(retained),
          least_(std::max<std::uint64_t>(least, 1)) {}

    std::vector<TopHolder> find(std::size_t most) {
        for (const NodeId group : shown_children(retained_, modules_, graph_.root(), least_)) begin_at(group);
        add_shared();
        add_alike_locals();
        std::stable_sort(found_.begin(), found_.end(),
                         [](const TopHolder& a, const TopHolder& b) { return a.retained > b.retained; });
        if (found_.size() > most) found_.resize(most);
        return std::move(found_);
    }

private:
    TypeId type_of(NodeId node) const { return columns().type_of(graph_.object_of(node)); }
    bool is_object(NodeId node) const { return graph_.kind(node) == NodeKind::object; }
    bool is_large(NodeId node) const { return retained_.memory(node) >= least_; }

    /// A group is many things: each of its large children is one. Calls too, and modules of a package.
    void begin_at(NodeId node) {
        if (!is_large(node)) return;
        const bool divided = !is_object(node) || is_module(node);
        if (!divided && is_interned_table(node)) return;  // Python's own, and everywhere
        if (!divided) return go_down(node);
        const std::vector<TypeId> by_c_code = add_held_by_c_code(node);
        std::uint64_t in_children = 0;
        for (const NodeId child : shown_children(retained_, modules_, node, least_)) {
            in_children += retained_.memory(child);
            const bool told = is_held_by_c_code(child) && std::find(by_c_code.begin(), by_c_code.end(),
                                                                    type_of(child)) != by_c_code.end();
            if (!told) begin_at(child);
        }
        const std::uint64_t rest = retained_.memory(node) - std::min(in_children, retained_.memory(node));
        // What several hold together whose holders were not found is not theirs to let go.
        const bool is_held = !is_object(node) && graph_.kind(node) == NodeKind::group &&
                             graph_.groups()[graph_.group_of(node)].kind == GroupKind::held;
        const std::uint64_t together = is_held ? 0 : add_joint(node, rest);
        if (is_worth_naming(node) && !is_held) add_mixed(node, std::max(least_, retained_.memory(node) / 2));
        if (rest - std::min(rest, together) >= least_ && is_worth_naming(node))
            add_many(node, rest - together);
    }

    bool is_held_by_c_code(NodeId node) const {
        if (!is_object(node)) return false;
        const ObjectId object = HeapGraph::object_of(node);
        return c_code_root(graph_, object) &&
               columns().types.find(columns().address_of(object)) == no_type;  // a class is in its table
    }

    /// Objects of a type that C code of a library has, each by itself: a variable of C++ is no object, but keeps
    /// them as a list in a module would. Gives the types of which there is now such a holder.
    std::vector<TypeId> add_held_by_c_code(NodeId node) {
        if (graph_.kind(node) != NodeKind::group) return {};
        const GroupKind kind = graph_.groups()[graph_.group_of(node)].kind;
        if (kind != GroupKind::native && kind != GroupKind::package) return {};
        struct Held {
            std::uint64_t bytes = 0, largest = 0, count = 0;
        };
        std::map<TypeId, Held> by_type;
        retained_.visit_children(node, [&](NodeId child) {
            if (!is_held_by_c_code(child) || type_of(child) == no_type) return;
            Held& held = by_type[type_of(child)];
            held.bytes += retained_.memory(child);
            held.largest = std::max(held.largest, retained_.memory(child));
            ++held.count;
        });
        std::vector<TypeId> told;
        for (const auto& [type, held] : by_type) {
            if (held.bytes < least_ || 2 * held.largest > held.bytes ||
                columns().types[type].known == KnownType::module)
                continue;
            TopHolder holder;
            holder.node = node;
            holder.below = graph_.group_of(node);
            holder.retained = held.bytes;
            holder.by_c_code = holder.has_content = true;
            holder.content = type;
            holder.many = holder.content_count = held.count;
            found_.push_back(std::move(holder));
            told.push_back(type);
        }
        return told;
    }

    /// Of a library much is always in many small objects.
    bool is_worth_naming(NodeId node) const {
        const bool is_group = graph_.kind(node) == NodeKind::group;
        if (!is_group && !(is_object(node) && is_module(node))) return false;
        const GroupId group = is_group ? graph_.group_of(node) : retained_.group(node);
        if (group == no_group) return false;
        const GroupKind kind = graph_.groups()[group].kind;
        if (!is_group)
            return kind == GroupKind::callbacks;  // up to 3.9 its module has what atexit is to call
        return kind == GroupKind::module || kind == GroupKind::thread || kind == GroupKind::held ||
               kind == GroupKind::callbacks || kind == GroupKind::unreachable;
    }

    void add_many(NodeId group, std::uint64_t bytes) {
        TopHolder holder;
        holder.node = group;
        holder.below = is_object(group) ? retained_.group(group) : graph_.group_of(group);
        holder.retained = bytes;
        visit_shown_children(retained_, modules_, group,
                             [&](NodeId child) { holder.many += !is_large(child); });
        describe_content(holder, group);
        found_.push_back(std::move(holder));
    }

    bool is_module(NodeId node) const { return columns().types.is(type_of(node), KnownType::module); }
    bool is_interned_table(NodeId object) const {
        return heap_.python_heap().is_interned_table(columns().address_of(graph_.object_of(object)));
    }

    /// Its other large children are places of their own.
    void go_down(NodeId node) {
        std::vector<NodeId> from{node};
        for (std::size_t i = 0; i < from.size() && i < most_places; ++i) go_down(from[i], from);
    }

    void go_down(NodeId node, std::vector<NodeId>& others) {
        NodeId at = node;
        while (true) {
            if (starts_run(at)) break;
            if (is_divided(at)) {
                for (const NodeId child : shown_children(retained_, modules_, at, least_))
                    others.push_back(child);
                return;
            }
            const double whole = static_cast<double>(retained_.memory(at));
            const NodeId largest = largest_shown(at);
            if (largest != no_node && static_cast<double>(retained_.memory(largest)) > most_of * whole) {
                const std::vector<NodeId> large = shown_children(retained_, modules_, at, least_);
                // A dict of a few large things is these; a cache of many is meant itself.
                if (is_container(at) && large.size() > most_attributes) break;
                for (const NodeId child : large)
                    if (child != largest) others.push_back(child);
                at = largest;
                continue;
            }
            // Most of it may be held by several of its children together; then these are meant.
            std::vector<JointHolders> joint =
                joint_holders_.find(at, static_cast<std::uint64_t>(most_of * whole) + 1, 1);
            if (!joint.empty()) return add(at, std::move(joint.front()));
            break;
        }
        add(at, std::nullopt);
    }

    /// What holds many things of a kind; the dict of an instance's attributes is none.
    bool is_container(NodeId node) const {
        const TypeTable& types = columns().types;
        const TypeId type = type_of(node);
        if (!is_object(node) || type == no_type) return false;
        const NodeId above = retained_.dominator(node);
        const bool is_dict = types.is(type, KnownType::dict);
        if (is_dict && above != no_node && is_object(above) && type_of(above) != no_type &&
            types[type_of(above)].python_class && !types.is(type_of(above), KnownType::dict))
            return !step_between(heap_, graph_.object_of(above), graph_.object_of(node))
                        .step.is(Field::attributes);
        return is_dict || types.is(type, KnownType::list) || types.is(type, KnownType::set) ||
               types.is(type, KnownType::tuple) || types.is(type, KnownType::deque) ||
               types.is(type, KnownType::frozen_set) || types.is(type, KnownType::ordered_dict) ||
               types.is(type, KnownType::default_dict);
    }

    /// An object with several attributes that each have much, and none most of it: these are meant.
    bool is_divided(NodeId node) const {
        if (!is_object(node) || is_container(node) || !is_of_program(node)) return false;
        std::uint64_t large = 0, most = 0;
        std::size_t count = 0;
        retained_.visit_children(node, [&](NodeId child) {
            if (!is_large(child) || !is_object(child)) return;
            large += retained_.memory(child);
            most = std::max(most, retained_.memory(child));
            ++count;
        });
        const std::uint64_t whole = retained_.memory(node);
        return count > 1 && count <= most_attributes && 2 * most <= whole && 2 * large > whole;
    }

    /// An instance of a class in Python, or the dict of its attributes.
    bool is_of_program(NodeId node) const {
        const TypeId type = type_of(node);
        return type != no_type &&
               (columns().types[type].python_class || columns().types.is(type, KnownType::dict));
    }

    /// The first of what is shown below it; `no_node` for a leaf.
    NodeId largest_shown(NodeId node) const {
        if (!modules_.is_module(node)) return retained_.largest_child(node);
        const std::vector<NodeId> children = shown_children(retained_, modules_, node);
        return children.empty() ? no_node : children.front();
    }

    /// A chain of objects of one type, each of which has nearly all that the one before has.
    bool starts_run(NodeId node) const {
        const TypeId type = type_of(node);
        // Up to 3.10 each second object of any path is a dict of attributes.
        if (columns().types.is(type, KnownType::dict) && !is_container(node)) return false;
        NodeId at = node;
        int length = 0;
        for (int steps = 0; steps < 2 * least_chain; ++steps) {
            at = retained_.largest_child(at);
            if (at == no_node || !is_object(at) || retained_.memory(at) * 10 < retained_.memory(node) * 9)
                return false;
            length += type_of(at) == type;
            if (length >= least_chain) return true;
        }
        return false;
    }

    std::uint64_t add_joint(NodeId node, std::uint64_t rest) {
        if (rest < least_) return 0;
        std::uint64_t together = 0;
        const GroupId group = retained_.group(node);
        const bool of_library = group != no_group && is_library_group(graph_, graph_.node_of(group));
        for (JointHolders& joint : joint_holders_.find(node, least_, 3)) {
            // What a library's modules lead to in C code is the library's tables: torch's 34 MiB once it is imported.
            if (joint.native && of_library) continue;
            together += joint.joint;
            add(node, std::move(joint));
        }
        return std::min(together, rest);
    }

    /// Objects of many types that the same hold together, where they are most of it: each of them may be small.
    void add_mixed(NodeId node, std::uint64_t least) {
        for (JointHolders& joint : joint_holders_.find(node, least, 0, least)) add(node, std::move(joint));
    }

    /// What a thread has in a local may be little, and what a hundred threads have in theirs much: one place, as long as
    /// none of them has enough to be one itself.
    void add_alike_locals() {
        struct Local {
            std::uint64_t bytes = 0;
            NodeId largest = no_node;
            std::set<std::int32_t> threads;
        };
        std::map<std::pair<std::string, std::string>, Local> locals;  // by call and name
        for (const HeapGraph::PlacedRoot& placed : graph_.roots()) {
            const Root& root = placed.root;
            if (root.kind != RootKind::frame || root.name.is_null() ||
                graph_.kind(placed.parent) != NodeKind::frame)
                continue;
            const NodeId node = graph_.node_of(root.object);
            if (retained_.dominator(node) != placed.parent || is_large(node)) continue;
            Local& local = locals[{call_words(graph_.frame({root.thread, root.frame})),
                                   heap_.python_heap().unicode_text(root.name, 200).value_or("?")}];
            local.bytes += retained_.memory(node);
            local.threads.insert(root.thread);
            if (local.largest == no_node || retained_.memory(node) > retained_.memory(local.largest))
                local.largest = node;
        }
        for (const auto& [place, local] : locals) {
            if (local.threads.size() < 2 || local.bytes < least_) continue;
            add(local.largest, std::nullopt);
            found_.back().alike = local.threads.size();
            found_.back().retained = local.bytes;
        }
    }

    void add_shared() {
        std::uint64_t loose = retained_.own_native(graph_.root());
        for (const NodeId object : shared_by_groups(retained_)) {
            loose += retained_.memory(object);
            if (is_large(object) && !is_interned_table(object)) go_down(object);
        }
        if (loose < least_) return;
        std::size_t of_one_type = 0;
        for (JointHolders& joint : joint_holders_.find(graph_.root(), least_, 6, 5 * least_)) {
            // That a module and a library lead to some of C code's blocks is what all of them do.
            const bool says_nothing = joint.native && joint.holders.empty() && !are_of_program(joint.by);
            if ((joint.count <= 1 && !joint.native) || says_nothing ||
                (joint.types == 1 && ++of_one_type > 3))
                continue;
            add(graph_.root(), std::move(joint));
        }
    }

    /// Modules of the program, and calls of its functions.
    bool are_of_program(const std::vector<NodeId>& holders) const {
        return std::all_of(holders.begin(), holders.end(), [&](NodeId holder) {
            return graph_.kind(holder) == NodeKind::frame || is_module_group(graph_, holder);
        });
    }

    void add(NodeId node, std::optional<JointHolders> joint) {
        TopHolder holder;
        holder.node = node;
        holder.below = retained_.group(node);
        if (joint) {
            holder.retained = joint->joint;
            holder.content_count = joint->count;
            holder.joint = std::move(joint);
        } else {
            holder.retained = retained_.memory(node);
            describe_content(holder, node);
        }
        found_.push_back(std::move(holder));
    }

    /// The type that has most of the memory immediately below, if that is a good part.
    void describe_content(TopHolder& holder, NodeId node) const {
        std::map<TypeId, std::pair<std::uint64_t, std::uint64_t>> by_type;  // memory, count
        auto last = by_type.end();                                          // most are of one type
        visit_shown_children(retained_, modules_, node, [&](NodeId child) {
            if (!is_object(child) || (holder.many > 0 && is_large(child))) return;
            const TypeId type = type_of(child);
            if (last == by_type.end() || last->first != type) last = by_type.try_emplace(type).first;
            last->second.first += retained_.memory(child);
            ++last->second.second;
        });
        const auto largest = std::max_element(
            by_type.begin(), by_type.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        if (largest == by_type.end() || largest->second.first * 4 < holder.retained) return;
        holder.has_content = true;
        holder.content = largest->first;
        holder.content_count = largest->second.second;
        if (is_object(node) && starts_run(node)) {
            holder.content_count = 0;
            holder.is_chain = true;
            for (NodeId at = node; at != no_node && is_object(at); at = retained_.largest_child(at))
                holder.content_count += type_of(at) == type_of(node);
            holder.content = type_of(node);
        }
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    ModuleNodes modules_;
    JointHolderFinder joint_holders_;
    std::uint64_t least_;
    std::vector<TopHolder> found_;
};

}  // namespace

/// The first reference that C code has to it; null if there is none.
const HeapGraph::PlacedRoot* c_code_root(const HeapGraph& graph, ObjectId object) {
    for (const HeapGraph::PlacedRoot& root : graph.roots_of(object))
        if (root.root.kind == RootKind::native && !root.root.word.is_null()) return &root;
    return nullptr;
}

std::vector<TopHolder> search_holders(const RetainedLookup& retained, std::uint64_t least, std::size_t most) {
    return HolderSearch(retained, least).find(most);
}

}  // namespace heapsift
