// An object is reached in many ways. The path with fewest references seldom explains anything: every instance
// is four steps away from a weak registry, a subclass list, a traceback that somebody keeps. So steps that a
// person writes cost 1; steps that only stand between two of them (an instance and its __dict__, a cell and
// its content) cost nothing; steps that are true but explain nothing (a class, its bases, tracebacks of
// exceptions that were caught, what the debugger left in gc.garbage) cost 20. The same holds for roots:
// people know a module's name and a local of a frame; a word in a C library is used only when there is
// nothing better.
//
// If two paths cost the same, the first root in order has it, and modules of the program come before those of
// libraries.

#include "analysis/holding/root_paths.h"

#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <array>

namespace heapsift {
namespace {

constexpr std::uint32_t remote = 20, most_step_cost = 2 * remote;
// With PathWishes::calls_last: of a local, for each call around its own, up to so many; and of an instance by a global.
constexpr std::uint32_t of_a_call = 4, most_calls = 5, of_one_instance = 2;

std::uint32_t field_cost(const FieldName& name) {
    switch (name.field) {
        case Field::attributes:
        case Field::dict:
        case Field::cell_contents:
            return 0;
        case Field::class_:
        case Field::mro:
        case Field::bases:
        case Field::base:
        case Field::traceback:
        case Field::tb_frame:
        case Field::tb_next:
        case Field::f_back:
        case Field::subclasses:
        case Field::type_cache:
            return remote;
        case Field::other:
        case Field::dicts_of_threads:
            break;
    }
    return name.nameless ? 3 : 1;
}

}  // namespace

std::uint32_t step_cost(const ReferenceName& name) {
    switch (name.form) {
        case ReferenceName::Form::text:
            return field_cost(name.text);
        case ReferenceName::Form::key:
            return 2;
        case ReferenceName::Form::offset:
            return 4;
        default:
            return 1;
    }
}

std::uint32_t root_cost(const Root& root) {
    switch (root.kind) {
        case RootKind::module:
            return 0;
        case RootKind::frame:
            return root.name.is_null() && *root.text ? 4
                   : root.name.is_null()             ? 1
                                                     : 2;  // a global outlives the call
        case RootKind::thread_local_:
            return *root.text ? 3 : 0;
        case RootKind::context:
            return 1;
        case RootKind::thread:
        case RootKind::interpreter:
        case RootKind::static_type:
            return 4;
        case RootKind::native:
            return 5;
        case RootKind::native_unseen:
            return 8;
        case RootKind::immortal:
            return 9;
    }
    return 9;
}

/// A local of a call lasts as long as the call does, and that of an inner one less. What the interpreter and C code have
/// of frames is no better a name.
std::uint32_t lasting_root_cost(const HeapGraph& graph, const Root& root) {
    const std::uint32_t usual = root_cost(root);
    if (root.kind == RootKind::module || root.kind == RootKind::thread_local_ ||
        root.kind == RootKind::context)
        return usual;
    if (root.kind != RootKind::frame || root.thread < 0 || root.frame < 0)
        return usual + of_a_call * (most_calls + 1);
    const std::size_t calls = graph.root_set().threads()[static_cast<std::size_t>(root.thread)].frames.size();
    const std::size_t around = calls - std::min(calls, static_cast<std::size_t>(root.frame) + 1);
    return usual + of_a_call * static_cast<std::uint32_t>(std::min<std::size_t>(around + 1, most_calls));
}

namespace {

/// Fills in the paths. Refers to what it reads: use it within one call.
class RootSearch final : public OwnedReferenceVisitor {
public:
    RootSearch(const HeapGraph& graph, RootPaths& paths, const PathWishes& wishes, std::vector<ObjectId> ends)
        : paths_(paths), graph_(graph), wishes_(wishes), ends_(std::move(ends)) {
        const HeapReader& heap = graph_.heap();
        const HeapSnapshot& columns = heap.snapshot();
        for (const TypeInfo& type : columns.types) {
            const bool frame = type.known == KnownType::frame, traceback = type.known == KnownType::traceback;
            instance_.push_back(wishes.calls_last && type.python_class);
            left_out_.push_back((wishes.without_frames && frame) || (wishes.without_tracebacks && traceback));
        }
        for (const LoadedModule& module : graph_.root_set().modules())
            if (module.name == "gc" && !module.dict.is_null())
                if (const Address list = heap.python_heap().dict_value(module.dict, "garbage");
                    !list.is_null())
                    garbage_list_ = columns.find(list);
    }

    void run(const std::vector<ObjectId>& wanted, const ProgressCallback& progress) {
        std::size_t left = wanted.size(), settled = 0;
        wanted_.resize(wanted.empty() ? 0 : graph_.object_count());
        for (const ObjectId object : wanted) wanted_[object] = true;
        start();
        search_.run(
            [&](NodeId node) {
                const ObjectId object = graph_.object_of(node);
                if (progress && settled % (1 << 18) == 0)
                    progress("paths",
                             static_cast<double>(settled) / static_cast<double>(graph_.object_count()));
                ++settled;
                if (is_wanted(object) && --left == 0) return false;
                if (std::binary_search(ends_.begin(), ends_.end(), object)) return true;
                source_ = object;
                names_globals_ = wishes_.calls_last && is_module_dict(object);
                surcharge_ = object == garbage_list_ ? remote : 0;
                if (!graph_.targets(object).empty()) graph_.heap().visit_owned_references(object, *this);
                return true;
            },
            [&](NodeId node, std::size_t stage) { fetch(graph_.object_of(node), stage); });
    }

    void visit(ObjectId target, const ReferenceName& name) override {
        if (search_.is_settled(HeapGraph::node_of(target))) return;
        std::uint32_t cost = paths_.cost(source_) + std::min(step_cost(name) + surcharge_, most_step_cost);
        if (names_globals_ && is_instance(target)) cost += of_one_instance;
        if (cost >= paths_.cost(target) || !graph_.follows(source_, target)) return;
        if (!relax(target, source_, cost) || !wishes_.name_steps) return;
        paths_.steps.set(target, paths_.number_step(graph_, source_, target, name));
    }

private:
    bool is_wanted(ObjectId object) const { return !wanted_.empty() && wanted_[object]; }
    bool is_module_dict(ObjectId object) const {
        const std::vector<Address>& dicts = graph_.root_set().modules_and_dicts();
        return std::binary_search(dicts.begin(), dicts.end(), graph_.columns().address_of(object));
    }
    /// A global that is one instance of a class may be what a loop has in hand, of many that are elsewhere.
    bool is_instance(ObjectId object) const {
        const TypeId type = graph_.columns().type_of(object);
        return type < instance_.size() && instance_[type];
    }

    /// Of an object that is settled soon: columns; its bytes and its row; what it refers to.
    void fetch(ObjectId object, std::size_t stage) const {
        constexpr std::size_t most_targets = 8;
        const HeapSnapshot& columns = graph_.columns();
        if (stage == 0) {
            columns.objects.addresses.fetch(object);
            columns.objects.types.fetch(object);
            graph_.fetch_row(HeapGraph::node_of(object));
            return;
        }
        const std::span<const ObjectId> targets = graph_.targets(object);
        if (targets.empty()) return;
        if (stage == 1) {
            __builtin_prefetch(targets.data());
            graph_.heap().fetch(object);
            return;
        }
        graph_.heap().fetch_parts(object);
        for (const ObjectId target : targets.first(std::min(most_targets, targets.size()))) {
            const NodeId node = HeapGraph::node_of(target);
            paths_.forest.cost.fetch(node);
            __builtin_prefetch(&paths_.forest.previous[node], 1);
            graph_.preorder().fetch_position(node);
            graph_.fetch_row(node);
            columns.objects.types.fetch(target);
            if (wishes_.name_steps) paths_.steps.fetch(target);
        }
    }

    void start() {
        std::vector<const HeapGraph::PlacedRoot*> roots;
        for (const HeapGraph::PlacedRoot& placed : graph_.roots()) {
            if (wishes_.without_frames && placed.root.frame >= 0) continue;
            roots.push_back(&placed);
        }
        std::stable_sort(roots.begin(), roots.end(),
                         [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
        for (const auto* placed : roots) {
            relax(placed->root.object, no_object,
                  wishes_.calls_last ? lasting_root_cost(graph_, placed->root) : root_cost(placed->root));
        }
    }

    /// Threads and modules of the program first.
    int rank(const HeapGraph::PlacedRoot& placed) const {
        if (graph_.kind(placed.parent) == NodeKind::frame) return 1;
        switch (graph_.groups()[graph_.group_of(placed.parent)].kind) {
            case GroupKind::module:
                return 0;
            case GroupKind::thread:
                return 1;
            case GroupKind::package:
                return 2;
            default:
                return 3;
        }
    }

    bool relax(ObjectId target, ObjectId previous, std::uint32_t cost) {
        if (cost >= paths_.cost(target) || graph_.reach(target) == Reach::unreachable) return false;
        const TypeId type = graph_.columns().type_of(target);
        if ((type < left_out_.size() && left_out_[type]) ||
            std::binary_search(wishes_.without.begin(), wishes_.without.end(), target))
            return false;
        const bool waits = paths_.forest.keeps_order || is_wanted(target) || !graph_.targets(target).empty();
        return search_.offer(HeapGraph::node_of(target), HeapGraph::node_of(previous), cost, waits);
    }

    RootPaths& paths_;
    const HeapGraph& graph_;
    const PathWishes& wishes_;
    std::vector<ObjectId> ends_;
    std::vector<bool> wanted_;    // by object; empty if all are
    std::vector<bool> left_out_;  // by type
    ObjectId garbage_list_ = no_object;
    PathSearch<most_step_cost + of_one_instance> search_{paths_.forest};
    ObjectId source_ = no_object;
    std::uint32_t surcharge_ = 0;
    bool names_globals_ = false;  // the source is a module's dict, and that counts
    std::vector<bool> instance_;  // by type: of a class written in Python, if that counts
};

}  // namespace

RootPaths root_paths(const HeapGraph& graph, const PathWishes& wishes, std::vector<ObjectId> wanted,
                     std::vector<ObjectId> ends, const ProgressCallback& progress) {
    RootPaths paths{PathForest(graph.object_count(), wishes.name_steps), {}, {}};
    if (wishes.name_steps) paths.steps = NarrowNumbers(graph.object_count());
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::sort(ends.begin(), ends.end());
    RootSearch(graph, paths, wishes, std::move(ends)).run(wanted, progress);
    return paths;
}

EveryRootPath EveryRootPath::find(const HeapGraph& graph, const ProgressCallback& progress) {
    const RootPaths paths = root_paths(graph, {}, {}, {}, progress);
    EveryRootPath every;
    std::vector<ObjectId>& previous = every.previous_.fill();
    previous.reserve(graph.object_count());
    for (ObjectId object{0}; object < graph.object_count(); ++object)
        previous.push_back(paths.found(object) ? paths.previous(object) : object);
    every.previous_.filled();
    return every;
}

std::optional<std::vector<ObjectId>> EveryRootPath::path(const HeapGraph& graph, ObjectId object) const {
    std::vector<ObjectId> result;
    if (previous_[object] == object) return result;
    for (ObjectId at = object; at != no_object; at = previous_[at]) {
        if (!result.empty()) {
            const auto targets = graph.targets(at);
            if (std::find(targets.begin(), targets.end(), result.back()) == targets.end() ||
                !graph.follows(at, result.back()))
                return std::nullopt;
        }
        if (result.size() >= graph.object_count()) return std::nullopt;  // it runs in a circle
        result.push_back(at);
    }
    if (graph.roots_of(result.back()).empty()) return std::nullopt;
    std::reverse(result.begin(), result.end());
    return result;
}

const HeapGraph::PlacedRoot& cheapest_root(const HeapGraph& graph, ObjectId object, bool calls_last) {
    const auto roots = graph.roots_of(object);
    const auto cost = [&](const Root& root) {
        return calls_last ? lasting_root_cost(graph, root) : root_cost(root);
    };
    return *std::min_element(roots.begin(), roots.end(),
                             [&](const auto& a, const auto& b) { return cost(a.root) < cost(b.root); });
}

std::uint32_t RootPaths::number_step(const HeapGraph& graph, ObjectId source, ObjectId target,
                                     const ReferenceName& name) {
    // The items of the dict of an instance, a module or a thread-local are attributes.
    const bool attribute_dict = previous(source) == no_object
                                    ? cheapest_root(graph, source).root.kind == RootKind::thread_local_
                                    : steps[source] == step_names.dict_step();
    return step_names.number(source, target, name, attribute_dict);
}

std::vector<ObjectId> RootPaths::path(ObjectId object) const {
    std::vector<ObjectId> result;
    for (ObjectId at = object; at != no_object; at = previous(at)) result.push_back(at);
    std::reverse(result.begin(), result.end());
    return result;
}

}  // namespace heapsift
