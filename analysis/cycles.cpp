// Equal cycles. A program that leaks one cycle leaks thousands like it, and a table of thousands says
// nothing. Two are of one kind when the same types refer to each other by the same names: the set of (type,
// name, type) of the references between the members, indices and keys of containers left out. So rings of
// three and of fifty links are one kind, as are trees of any size. A
// `__dict__` and its instance are one in this: up to 3.12 it depends on chance whether there is one.
//
// Of what a cycle holds besides its members, that is counted which dies with it by reference counts: it need
// not be searched for in all the heap.

#include "analysis/cycles.h"

#include "analysis/cycle_opening.h"
#include "analysis/graph/components.h"
#include "analysis/object_paths.h"
#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint32_t none = Components::none;

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return mixed(mixed(a) + b); }

std::uint64_t text_hash(std::string_view text) { return std::hash<std::string_view>()(text); }

/// A number for what a reference is called, the same for all items of a container. Names of attributes are
/// interned: their address tells them apart.
std::uint64_t name_hash(const ReferenceName& name, bool source_is_dict_of_an_instance) {
    using Form = ReferenceName::Form;
    const auto form = static_cast<std::uint64_t>(name.form);
    switch (name.form) {
        case Form::attribute:
        case Form::c_attribute:
            return mixed(1, name.key.value);
        case Form::item:
            return source_is_dict_of_an_instance ? mixed(1, name.key.value) : form;
        case Form::local:
            return mixed(form, name.key.value);
        case Form::text:
        case Form::index:
            return mixed(form, text_hash(name.text.text));
        case Form::cell:
        case Form::hidden_local:
            return form;
        case Form::key:
            return form;
        case Form::element:
        case Form::offset:
            return mixed(form, name.number);
    }
    return form;
}

bool is_dict_step(const ReferenceName& name) {
    return name.form == ReferenceName::Form::text && name.text.field == Field::attributes;
}

/// Visits with a callable.
template <class F>
struct EachReference final : OwnedReferenceVisitor {
    explicit EachReference(F& f) : function(f) {}
    void visit(ObjectId target, const ReferenceName& name) override { function(target, name); }
    F& function;
};
template <class F>
void each_reference(const HeapReader& heap, ObjectId source, F function) {
    EachReference<F> visitor(function);
    heap.visit_owned_references(source, visitor);
}

/// Back references by their names.
std::uint8_t reluctance_to_cut(const ReferenceStep& step) {
    for (const char* word : {"parent", "owner", "callback", "closure", "cell_contents"})
        if (step.name.find(word) != std::string::npos ||
            (step.key && step.key->text.find(word) != std::string::npos))
            return 0;
    if (step.is(Field::attributes) || step.is(Field::class_)) return 9;
    return is_dunder(step) ? 5 : 2;
}

}  // namespace

Cycles::Cycles(const HeapGraph& graph, const ObjectStates& states, const CyclesQuery& query,
               const ProgressCallback& progress)
    : states_(states), graph_(graph), heap_(graph_.heap()), query_(query), reasons_(heap_, states) {
    if (progress) progress("cycles", 0);
    find();
    measure();
    group();
}

/// Garbage and what is in use each by itself: what else is looked for changes no cycle of garbage, and so no
/// number.
void Cycles::find() {
    const auto components_of = [&](bool garbage) {
        Components found = strong_components(graph_, [&](NodeId node) {
            return node < graph_.object_count() && states_.garbage(node) == garbage;
        });
        found.of_node.resize(graph_.object_count());
        return found;
    };
    if (!query_.reachable) count_held();
    Components garbage = components_of(true);
    component_of_ = std::move(garbage.of_node);
    std::uint32_t count = garbage.count;
    if (query_.reachable) {
        const Components used = components_of(false);
        for (ObjectId object = 0; object < component_of_.size(); ++object)
            if (used.of_node[object] != none) component_of_[object] = count + used.of_node[object];
        count += used.count;
    }
    owner_of_dict_.assign(graph_.object_count(), no_type);
    list_members(component_of_, count);
}

bool Cycles::shown(const Cycle& cycle) const {
    switch (cycle.state) {
        case ObjectState::waiting:
            return query_.unreachable;
        case ObjectState::uncollectable:
            return query_.uncollectable;
        case ObjectState::invisible:
            return query_.unreachable || query_.uncollectable;
        default:
            return query_.reachable;
    }
}

/// By component: how many objects, and whether it is a cycle.
struct Cycles::Sizes {
    std::vector<std::uint32_t> sizes;
    std::vector<bool> cyclic;
};

Cycles::Sizes Cycles::sizes_of(const std::vector<std::uint32_t>& component_of,
                               std::uint32_t components) const {
    Sizes result{std::vector<std::uint32_t>(components, 0), std::vector<bool>(components)};
    for (ObjectId object = 0; object < component_of.size(); ++object) {
        const std::uint32_t component = component_of[object];
        if (component == none) continue;
        if (++result.sizes[component] > 1) result.cyclic[component] = true;
        if (result.cyclic[component]) continue;
        for (const NodeId target : graph_.targets(object))
            if (target == object && graph_.follows(object, object)) result.cyclic[component] = true;
    }
    return result;
}

void Cycles::count_held() {
    if (states_.count(ObjectState::held) == 0) return;
    Components found = strong_components(graph_, [&](NodeId node) {
        return node < graph_.object_count() && states_.of(node) == ObjectState::held;
    });
    found.of_node.resize(graph_.object_count());
    const std::vector<bool> cyclic = sizes_of(found.of_node, found.count).cyclic;
    held_.cycles = static_cast<std::uint64_t>(std::count(cyclic.begin(), cyclic.end(), true));
    std::vector<ObjectSizes> one(1);
    for (ObjectId object = 0; object < found.of_node.size(); ++object) {
        if (found.of_node[object] == none || !cyclic[found.of_node[object]]) continue;
        heap_.sizes(object, one);
        ++held_.objects;
        held_.bytes += one[0].memory;
    }
}

/// Keeps the components that are cycles, numbered anew by their first members.
void Cycles::list_members(const std::vector<std::uint32_t>& component_of, std::uint32_t components) {
    const auto [sizes, cyclic] = sizes_of(component_of, components);
    std::vector<std::uint32_t> number(components, none);
    first_.assign(1, 0);
    for (ObjectId object = 0; object < component_of.size(); ++object) {
        const std::uint32_t component = component_of[object];
        if (component == none || !cyclic[component] || number[component] != none) continue;
        number[component] = static_cast<std::uint32_t>(first_.size() - 1);
        first_.push_back(first_.back() + sizes[component]);
    }
    members_.resize(first_.back());
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for (ObjectId object = 0; object < component_of_.size(); ++object) {
        std::uint32_t& component = component_of_[object];
        component = component == none ? none : number[component];
        if (component != none) members_[next[component]++] = object;
    }
}

std::uint64_t Cycles::kind_of(std::span<const ObjectId> members) {
    for (const ObjectId member : members)
        each_reference(heap_, member, [&](ObjectId target, const ReferenceName& name) {
            if (is_dict_step(name) && holds(member, target)) owner_of_dict_[target] = heap_.type_of(member);
        });
    const auto type_of = [&](ObjectId object) {
        return std::uint64_t{owner_of_dict_[object] == no_type ? heap_.type_of(object)
                                                               : owner_of_dict_[object]};
    };
    std::vector<std::uint64_t> references;
    for (const ObjectId member : members)
        each_reference(heap_, member, [&](ObjectId target, const ReferenceName& name) {
            if (!holds(member, target) || (is_dict_step(name) && owner_of_dict_[target] != no_type)) return;
            const std::uint64_t called = name_hash(name, owner_of_dict_[member] != no_type);
            const std::uint64_t reference = mixed(mixed(type_of(member), called), type_of(target));
            if (references.empty() || references.back() != reference) references.push_back(reference);
        });
    std::sort(references.begin(), references.end());
    references.erase(std::unique(references.begin(), references.end()), references.end());
    std::uint64_t kind = references.size();
    for (const std::uint64_t reference : references) kind = mixed(kind, reference);
    return kind;
}

void Cycles::measure() {
    ReferenceCountDeath death(heap_);
    std::vector<ObjectSizes> one(1);
    for (std::uint32_t component = 0; component + 1 < first_.size(); ++component) {
        Cycle cycle;
        cycle.component = component;
        const std::span<const ObjectId> all = members(cycle);
        cycle.state = states_.of(all.front());
        cycle.reason = reasons_.of(all);
        cycle.count = all.size();
        const auto add = [&](ObjectId object) {
            heap_.sizes(object, one);
            ++cycle.freed_count;
            cycle.retained += one[0].memory;
        };
        for (const ObjectId member : all) {
            add(member);
            cycle.size += one[0].size;
        }
        death.run(all, add);
        const CycleReason& reason = cycle.reason;
        cycle.kind = mixed(mixed(kind_of(all), static_cast<std::uint64_t>(reason.kind) << 8 |
                                                   static_cast<std::uint64_t>(cycle.state)),
                           mixed(std::uint64_t{reason.type} << 32 | reason.finalizer, reason.interpreter));
        cycles_.push_back(cycle);
    }
}

void Cycles::group() {
    std::unordered_map<std::uint64_t, std::size_t> row_of;
    std::vector<bool> garbage;
    for (std::size_t i = 0; i < cycles_.size(); ++i) {
        const Cycle& cycle = cycles_[i];
        const auto [it, is_new] = row_of.try_emplace(cycle.kind, kinds_.size());
        if (is_new) {
            kinds_.push_back({.example = static_cast<std::uint32_t>(i)});
            garbage.push_back(states_.garbage(members(cycle).front()));
        }
        CycleKind& row = kinds_[it->second];
        ++row.cycles;
        row.objects += cycle.count;
        row.size += cycle.size;
        row.retained += cycle.retained;
    }
    std::stable_sort(kinds_.begin(), kinds_.end(), [&](const CycleKind& a, const CycleKind& b) {
        const bool a_used = !states_.garbage(members(cycles_[a.example]).front());
        const bool b_used = !states_.garbage(members(cycles_[b.example]).front());
        return a_used != b_used ? b_used : a.retained > b.retained;
    });
    // Numbers: examples first, then their equals; what is in use comes last, whether it was asked for or not.
    std::vector<Cycle> numbered;
    std::unordered_map<std::uint64_t, std::uint32_t> first_id;
    for (const bool used : {false, true}) {
        for (CycleKind& row : kinds_) {
            Cycle cycle = cycles_[row.example];
            if (states_.garbage(members(cycle).front()) == used) continue;
            cycle.id = static_cast<std::uint32_t>(numbered.size() + 1);
            first_id[cycle.kind] = cycle.id;
            numbered.push_back(cycle);
        }
        for (Cycle cycle : cycles_) {
            if (states_.garbage(members(cycle).front()) == used) continue;
            if (cycle.component == numbered[first_id[cycle.kind] - 1].component) continue;
            cycle.equal_to = first_id[cycle.kind];
            cycle.id = static_cast<std::uint32_t>(numbered.size() + 1);
            numbered.push_back(cycle);
        }
    }
    for (CycleKind& row : kinds_) row.example = first_id[cycles_[row.example].kind];
    cycles_ = std::move(numbered);
    std::erase_if(kinds_, [&](const CycleKind& row) { return !shown(cycles_[row.example - 1]); });
    for (const CycleKind& row : kinds_) shown_count_ += row.cycles;
}

// An instance of a class of the program's says most; a class, its dict, a cell say least.
ObjectId Cycles::first_to_show(std::span<const ObjectId> members) const {
    const auto rank = [&](ObjectId object) {
        const TypeInfo& type = heap_.types()[heap_.type_of(object)];
        if (heap_.types().find(heap_.address_of(object)) != no_type) return 4;
        if (type.python_class) return 0;
        if (type.name == "coroutine" || type.name == "generator" || type.name == "async_generator") return 1;
        if (type.name == "dict" || type.name == "tuple" || type.name == "cell" || type.name == "list")
            return 3;
        return 2;
    };
    return *std::min_element(members.begin(), members.end(),
                             [&](ObjectId a, ObjectId b) { return rank(a) < rank(b); });
}

CyclePath Cycles::path(const Cycle& cycle, std::size_t most_steps) const {
    const ObjectId start = first_to_show(members(cycle));
    std::unordered_map<ObjectId, ObjectId> previous;
    std::deque<ObjectId> pending{start};
    bool closed = false;
    while (!pending.empty() && !closed) {
        const ObjectId source = pending.front();
        pending.pop_front();
        for (const NodeId target : graph_.targets(source)) {
            if (!holds(source, target)) continue;
            const bool is_new = previous.try_emplace(target, source).second;
            if (target == start) {
                closed = true;
                break;
            }
            if (is_new) pending.push_back(target);
        }
    }
    CyclePath path;
    if (!closed) return path;
    std::vector<ObjectId> objects{start};
    for (ObjectId at = previous[start]; at != start; at = previous[at]) objects.push_back(at);
    std::reverse(objects.begin() + 1, objects.end());
    path.length = objects.size();
    objects.push_back(start);
    bool in_dict = false;  // of the instance whose step is the last
    for (std::size_t i = 0; i + 1 < objects.size() && path.steps.size() <= most_steps; ++i) {
        const ReferenceStep name = step_between(heap_, objects[i], objects[i + 1]).step;
        if (const auto attribute = in_dict ? as_attribute(name) : std::nullopt)
            path.steps.back().name = *attribute;
        else
            path.steps.push_back({type_name(heap_, heap_.type_of(objects[i])), name});
        in_dict = !in_dict && name.is(Field::attributes);
    }
    if (path.steps.size() > most_steps) path.steps.resize(most_steps);
    return path;
}

namespace {

/// What is in `these` and not in `those`, a few of them: "with frame, traceback and 2 more".
template <class Set>
std::string not_in(const char* before, const Set& these, const Set& those) {
    constexpr std::size_t most = 4;
    std::vector<std::string> only;
    std::set_difference(these.begin(), these.end(), those.begin(), those.end(), std::back_inserter(only));
    std::string text;
    for (std::size_t i = 0; i < std::min(most, only.size()); ++i) text += (i > 0 ? ", " : before) + only[i];
    if (only.size() > most) text += " and " + std::to_string(only.size() - most) + " more";
    return text;
}

}  // namespace

std::string Cycles::unlike(const Cycle& cycle, const Cycle& other) const {
    constexpr std::size_t most_members = 1000;
    struct Words {
        std::set<std::string> types, names;
    };
    const auto words_of = [&](const Cycle& one) {
        Words words;
        const auto all = members(one);
        for (const ObjectId member : all.first(std::min(all.size(), most_members))) {
            words.types.insert(type_name(heap_, heap_.type_of(member)));
            heap_.visit_references(member, [&](const Reference& reference) {
                const ObjectId target = reference.followed ? heap_.find(reference.target) : no_object;
                if (target == no_object || !holds(member, target)) return;
                const ReferenceStep name = as_attribute(reference.step).value_or(reference.step);
                if (is_dotted(name)) words.names.insert(notation(name));
            });
        }
        return words;
    };
    const Words mine = words_of(cycle), its = words_of(other);
    for (const std::string& text :
         {not_in("with ", mine.types, its.types), not_in("also by ", mine.names, its.names),
          not_in("without ", its.types, mine.types), not_in("not by ", its.names, mine.names)})
        if (!text.empty()) return text;
    return "by other references between the same types";
}

CycleDetails Cycles::details(const Cycle& cycle, std::size_t limit, bool with_opening) const {
    CycleDetails result;
    const std::span<const ObjectId> all = members(cycle);
    const auto room = [&](std::size_t shown) { return limit == 0 || shown < limit; };
    for (const ObjectId member : all) {
        if (!room(result.members.size())) break;
        result.members.push_back(object_row(heap_, member));
        result.members.back().state = states_.of(member);
    }
    const auto number = [&](ObjectId object) {
        return static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), object) - all.begin());
    };
    std::vector<MemberEdge> edges;
    std::vector<std::uint32_t> place;  // of an edge: among those of its source
    const auto visit_edges = [&](ObjectId member, auto visit) {
        heap_.visit_references(member, [&](const Reference& reference) {
            const ObjectId target = reference.followed ? heap_.find(reference.target) : no_object;
            if (target != no_object && holds(member, target)) visit(target, reference);
        });
    };
    const auto row = [&](ObjectId member, ObjectId target, const Reference& reference) {
        return EdgeRow{brief_object_row(heap_, member), brief_object_row(heap_, target), reference, true};
    };
    for (const ObjectId member : all) {
        if (!with_opening && !room(result.edges.size())) break;
        std::uint32_t nth = 0;
        visit_edges(member, [&](ObjectId target, const Reference& reference) {
            if (room(result.edges.size())) result.edges.push_back(row(member, target, reference));
            ++result.edge_count;
            if (with_opening) {
                edges.push_back({number(member), number(target), reluctance_to_cut(reference.step)});
                place.push_back(nth++);
            }
        });
    }
    if (!with_opening) return result;
    const CycleOpening opening = open_cycle(static_cast<std::uint32_t>(all.size()), edges);
    result.opening_is_smallest = opening.smallest;
    result.opening_count = opening.edges.size();
    for (const std::size_t edge : opening.edges) {
        if (!room(result.opening.size())) break;
        const ObjectId member = all[edges[edge].source];
        std::uint32_t nth = 0;
        visit_edges(member, [&](ObjectId target, const Reference& reference) {
            if (nth++ == place[edge]) result.opening.push_back(row(member, target, reference));
        });
    }
    return result;
}

}  // namespace heapsift
