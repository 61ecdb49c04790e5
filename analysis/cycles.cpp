// Equal cycles. A program that leaks one cycle leaks thousands like it, and a table of thousands says
// nothing. Two cycles are of one kind if the same types refer to each other by the same names: if the sets of
// (type, name, type) of the references between their members are equal, without the indices and keys of
// containers. So rings of three and of fifty links are one kind, as are trees of any size. A `__dict__` and
// its instance count as one: up to 3.12 chance decides whether there is a dict.
//
// Of what a cycle holds besides its members, only what dies with it by reference counts is counted: that
// needs no search of the whole heap.

#include "analysis/cycles.h"

#include "analysis/graph/components.h"
#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint32_t in_no_cycle = Components::none;

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return mixed(mixed(a) + b); }

std::uint64_t text_hash(std::string_view text) { return std::hash<std::string_view>()(text); }

/// A number for the name of a reference, the same for all items of a container. Names of attributes are
/// interned: their address identifies them.
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
        case Form::frame_place:
            return mixed(mixed(form, name.key.value), name.number);
        case Form::element:
        case Form::offset:
            return mixed(form, name.number);
    }
    return form;
}

bool is_dict_step(const ReferenceName& name) {
    return name.form == ReferenceName::Form::text && name.text.field == Field::attributes;
}

/// A visitor that calls `function`.
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

/// By component: the number of objects, and whether it is a cycle.
struct ComponentSizes {
    std::vector<std::uint32_t> sizes;
    std::vector<bool> cyclic;
};

ComponentSizes sizes_of(const HeapGraph& graph, const std::vector<std::uint32_t>& component_of,
                        std::uint32_t components) {
    ComponentSizes result{std::vector<std::uint32_t>(components, 0), std::vector<bool>(components)};
    for (ObjectId object{0}; object < component_of.size(); ++object) {
        const std::uint32_t component = component_of[object];
        if (component == in_no_cycle) continue;
        if (++result.sizes[component] > 1) result.cyclic[component] = true;
        if (result.cyclic[component]) continue;
        for (const ObjectId target : graph.targets(object))
            if (target == object && graph.follows(object, object)) result.cyclic[component] = true;
    }
    return result;
}

struct ObjectComponents {
    std::vector<std::uint32_t> of_object;  // as Components::of_node
    std::uint32_t count = 0;
};

template <class In>
ObjectComponents components_of(const HeapGraph& graph, In in) {
    Components found = strong_components(
        graph, [&](NodeId node) { return node < graph.object_count() && in(graph.object_of(node)); });
    found.of_node.resize(graph.object_count());
    return {std::move(found.of_node.values()), found.count};
}

/// Keeps the components that are cycles, renumbered by their first members.
CycleMembers list_members(const HeapGraph& graph, std::vector<std::uint32_t> component_of,
                          std::uint32_t components) {
    const auto [sizes, cyclic] = sizes_of(graph, component_of, components);
    CycleMembers members;
    std::vector<std::uint32_t> number(components, in_no_cycle);
    for (ObjectId object{0}; object < component_of.size(); ++object) {
        const std::uint32_t component = component_of[object];
        if (component == in_no_cycle || !cyclic[component] || number[component] != in_no_cycle) continue;
        number[component] = members.count();
        members.first.push_back(members.first.back() + sizes[component]);
    }
    members.objects.resize(members.first.back());
    std::vector<std::uint64_t> next(members.first.begin(), members.first.end() - 1);
    for (ObjectId object{0}; object < component_of.size(); ++object) {
        std::uint32_t& component = component_of[object];
        component = component == in_no_cycle ? in_no_cycle : number[component];
        if (component != in_no_cycle) members.objects[next[component]++] = object;
    }
    members.component = std::move(component_of);
    return members;
}

/// Searches garbage and what is in use separately: then other queries change no cycle of garbage, and no
/// number.
CycleMembers find_members(const HeapGraph& graph, const ObjectStates& states, bool reachable) {
    ObjectComponents garbage = components_of(graph, [&](ObjectId object) { return states.garbage(object); });
    std::uint32_t count = garbage.count;
    if (reachable) {
        const ObjectComponents used =
            components_of(graph, [&](ObjectId object) { return !states.garbage(object); });
        for (ObjectId object{0}; object < garbage.of_object.size(); ++object)
            if (used.of_object[object] != in_no_cycle)
                garbage.of_object[object] = count + used.of_object[object];
        count += used.count;
    }
    return list_members(graph, std::move(garbage.of_object), count);
}

CycleSum sum_of_held(const HeapReader& heap, const HeapGraph& graph, const ObjectStates& states) {
    CycleSum held;
    if (states.count(ObjectState::held) == 0) return held;
    const ObjectComponents found =
        components_of(graph, [&](ObjectId object) { return states.of(object) == ObjectState::held; });
    const std::vector<bool> cyclic = sizes_of(graph, found.of_object, found.count).cyclic;
    held.cycles = static_cast<std::uint64_t>(std::count(cyclic.begin(), cyclic.end(), true));
    std::vector<ObjectSizes> one(1);
    for (ObjectId object{0}; object < found.of_object.size(); ++object) {
        if (found.of_object[object] == in_no_cycle || !cyclic[found.of_object[object]]) continue;
        heap.sizes(object, one);
        ++held.objects;
        held.bytes += one[0].memory;
    }
    return held;
}

/// Finds equal cycles by a number. Refers to what it reads: use it within one call.
class KindReader {
public:
    KindReader(const HeapGraph& graph, const CycleMembers& members)
        : graph_(graph),
          heap_(graph.heap()),
          members_(members),
          owner_of_dict_(graph.object_count(), no_type) {}

    std::uint64_t kind_of(std::span<const ObjectId> members) {
        for (const ObjectId member : members)
            each_reference(heap_, member, [&](ObjectId target, const ReferenceName& name) {
                if (is_dict_step(name) && members_.joins(graph_, member, target))
                    owner_of_dict_[target] = columns().type_of(member);
            });
        const auto type_of = [&](ObjectId object) {
            return std::uint64_t{owner_of_dict_[object] == no_type ? columns().type_of(object)
                                                                   : owner_of_dict_[object]};
        };
        std::vector<std::uint64_t> references;
        for (const ObjectId member : members)
            each_reference(heap_, member, [&](ObjectId target, const ReferenceName& name) {
                if (!members_.joins(graph_, member, target) ||
                    (is_dict_step(name) && owner_of_dict_[target] != no_type))
                    return;
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

private:
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const CycleMembers& members_;
    std::vector<TypeId> owner_of_dict_;  // by object: the type whose __dict__ it is; else no_type
};

/// One for each component, in order; not numbered yet.
std::vector<Cycle> measured(const HeapGraph& graph, const ObjectStates& states, const CycleReasons& reasons,
                            const CycleMembers& members) {
    const HeapReader& heap = graph.heap();
    std::vector<Cycle> cycles;
    DyingByCounts death(heap);
    KindReader kinds(graph, members);
    std::vector<ObjectSizes> one(1);
    for (std::uint32_t component = 0; component < members.count(); ++component) {
        Cycle cycle;
        cycle.component = component;
        const std::span<const ObjectId> all = members.of(component);
        cycle.state = states.of(all.front());
        cycle.reason = reason_of(heap.snapshot(), states, reasons, all);
        cycle.count = all.size();
        const auto add = [&](ObjectId object) {
            heap.sizes(object, one);
            ++cycle.freed_count;
            cycle.retained += one[0].memory;
        };
        for (const ObjectId member : all) {
            add(member);
            cycle.size += one[0].size;
        }
        death.run(all, add);
        const CycleReason& reason = cycle.reason;
        cycle.kind = mixed(mixed(kinds.kind_of(all), static_cast<std::uint64_t>(reason.kind) << 8 |
                                                         static_cast<std::uint64_t>(cycle.state)),
                           mixed(std::uint64_t{reason.type} << 32 | reason.finalizer, reason.interpreter));
        cycles.push_back(cycle);
    }
    return cycles;
}

bool is_garbage(ObjectState state) { return state != ObjectState::reachable && state != ObjectState::held; }

/// Numbers the cycles, and adds up those of each kind.
void group(std::vector<Cycle> found, CyclesResult& result) {
    std::unordered_map<std::uint64_t, std::size_t> row_of;
    std::vector<CycleKind>& kinds = result.kinds;  // at first `example` is an index into `found`
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Cycle& cycle = found[i];
        const auto [it, is_new] = row_of.try_emplace(cycle.kind, kinds.size());
        if (is_new) kinds.emplace_back().example = static_cast<std::uint32_t>(i);
        CycleKind& row = kinds[it->second];
        ++row.cycles;
        row.objects += cycle.count;
        row.size += cycle.size;
        row.retained += cycle.retained;
    }
    std::stable_sort(kinds.begin(), kinds.end(), [&](const CycleKind& a, const CycleKind& b) {
        const bool a_used = !is_garbage(found[a.example].state), b_used = !is_garbage(found[b.example].state);
        return a_used != b_used ? b_used : a.retained > b.retained;
    });
    // Numbers: examples first, then their equals; what is in use comes last, asked for or not.
    std::vector<Cycle>& numbered = result.cycles;
    numbered.reserve(found.size());
    std::unordered_map<std::uint64_t, std::uint32_t> first_id;
    for (const bool used : {false, true}) {
        for (const CycleKind& row : kinds) {
            Cycle cycle = found[row.example];
            if (is_garbage(cycle.state) == used) continue;
            cycle.id = static_cast<std::uint32_t>(numbered.size() + 1);
            first_id[cycle.kind] = cycle.id;
            numbered.push_back(cycle);
        }
        for (Cycle cycle : found) {
            if (is_garbage(cycle.state) == used) continue;
            const std::uint32_t first = first_id[cycle.kind];
            if (cycle.component == numbered[first - 1].component) continue;
            cycle.equal_to = first;
            cycle.id = static_cast<std::uint32_t>(numbered.size() + 1);
            numbered.push_back(cycle);
        }
    }
    for (CycleKind& row : kinds) row.example = first_id[found[row.example].kind];
    std::erase_if(kinds, [&](const CycleKind& row) { return !result.shown(numbered[row.example - 1]); });
}

void add_up(CyclesResult& result) {
    for (const CycleKind& row : result.kinds) {
        result.shown_count += row.cycles;
        result.shown_objects += row.objects;
        result.shown_size += row.size;
        const Cycle& example = result.cycles[row.example - 1];
        const ObjectState state = example.state;
        if (example.reason.kind == CycleReason::Kind::guessed) result.guessed += row.cycles;
        CycleSum& sum = state == ObjectState::waiting ? result.waiting
                        : is_garbage(state)           ? result.never
                                                      : result.used;
        sum.cycles += row.cycles;
        sum.objects += row.objects;
        sum.bytes += row.retained;
    }
}

/// The reasons in words; thousands of cycles have few different ones.
void explain(const HeapSnapshot& heap, const CycleReasons& reasons, CyclesResult& result) {
    using Key = std::tuple<CycleReason::Kind, TypeId, TypeId, std::uint16_t>;
    std::map<Key, std::uint32_t> places;
    for (Cycle& cycle : result.cycles) {
        const CycleReason& why = cycle.reason;
        const auto [at, is_new] = places.try_emplace(Key{why.kind, why.type, why.finalizer, why.interpreter},
                                                     static_cast<std::uint32_t>(result.reasons.size()));
        if (is_new) result.reasons.push_back(reason_words(heap, reasons, why));
        cycle.reason_words = at->second;
    }
}

/// The texts in the rows of kinds; if two read alike, how the second differs.
void describe_kinds(const HeapGraph& graph, CyclesResult& result) {
    const std::size_t limit = result.query.kinds;
    const std::size_t count = limit == 0 ? result.kinds.size() : std::min(limit, result.kinds.size());
    const auto example = [&](const CycleKind& row) -> const Cycle& { return result.cycles[row.example - 1]; };
    std::unordered_map<std::string, std::vector<std::size_t>> by_reason;  // the first of each path
    for (std::size_t i = 0; i < count; ++i) {
        CycleKind& row = result.kinds[i];
        row.path = cycle_path(graph, result.members, example(row).component, CycleWishes().steps);
        std::vector<std::size_t>& firsts = by_reason[result.reason(example(row))];
        const auto first = std::find_if(firsts.begin(), firsts.end(), [&](std::size_t other) {
            return read_alike(row.path, result.kinds[other].path);
        });
        if (first == firsts.end()) {
            firsts.push_back(i);
            continue;
        }
        const CycleKind& other = result.kinds[*first];
        row.alike = other.example;
        row.unlike = cycle_unlike(graph, result.members, example(row).component, example(other).component);
    }
}

}  // namespace

bool CyclesResult::shown(const Cycle& cycle) const {
    switch (cycle.state) {
        case ObjectState::waiting:
            return query.unreachable;
        case ObjectState::uncollectable:
            return query.uncollectable;
        case ObjectState::invisible:
            return query.unreachable || query.uncollectable;
        default:
            return query.reachable;
    }
}

namespace {

/// The cycles and the sums; kept. Nothing of it has words yet.
struct FoundCycles {
    std::vector<Cycle> cycles;
    std::vector<CycleKind> kinds;  // as in CyclesResult, before they are described
    // CycleMembers, without the column by object:
    std::vector<std::uint64_t> first;
    std::vector<ObjectId> members;
    CycleSum held;

    std::size_t rows() const { return cycles.size() + members.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.first, [](auto& place, Part& p) { p.number(place); });
        part.list(self.members, [&](auto& member, Part& p) { kept_object(member, p, heap); });
        part.require(
            !self.first.empty() && self.first.front() == 0 && self.first.back() == self.members.size(),
            "the members of cycles are not whole");
        for (std::size_t i = 1; i < self.first.size(); ++i)
            part.require(self.first[i - 1] < self.first[i] && self.first[i] <= self.members.size(),
                         "a cycle has no members");
        part.list(self.cycles, [&](auto& cycle, Part& p) {
            for (auto* number : {&cycle.id, &cycle.equal_to, &cycle.component}) p.number(*number);
            p.number(cycle.state);
            reason_fields(cycle.reason, p, heap);
            for (auto* number : {&cycle.count, &cycle.size, &cycle.freed_count, &cycle.retained, &cycle.kind})
                p.number(*number);
            p.require(cycle.state <= ObjectState::invisible && cycle.component + 1 < self.first.size(),
                      "a cycle is not there");
        });
        part.require(self.cycles.size() + 1 == self.first.size(), "there are other cycles");
        part.list(self.kinds, [&](auto& kind, Part& p) {
            p.number(kind.example);
            for (auto* number : {&kind.cycles, &kind.objects, &kind.size, &kind.retained}) p.number(*number);
            p.require(kind.example > 0 && kind.example <= self.cycles.size(), "a cycle is not there");
        });
        for (auto* number : {&self.held.cycles, &self.held.objects, &self.held.bytes}) part.number(*number);
    }
};

FoundCycles find_cycles(Work& work, CyclesResult& result) {
    const HeapReader& heap = work.heap();
    const HeapGraph& graph = work.graph();
    const ObjectStates& states = work.states();
    FoundCycles found;
    if (!result.query.reachable) found.held = sum_of_held(heap, graph, states);
    const CycleMembers members = find_members(graph, states, result.query.reachable);
    group(measured(graph, states, cycle_reasons(heap), members), result);
    found.cycles = std::move(result.cycles);
    found.kinds = std::move(result.kinds);
    found.first = members.first;
    found.members = members.objects;
    return found;
}

CycleMembers members_of(const FoundCycles& found, std::size_t objects) {
    CycleMembers members;
    members.first = found.first;
    members.objects = found.members;
    if (found.members.empty()) return members;  // nobody is asked for its cycle
    members.component.assign(objects, CycleMembers::none);
    for (std::uint32_t component = 0; component < members.count(); ++component)
        for (const ObjectId member : members.of(component)) members.component[member] = component;
    return members;
}

}  // namespace

CyclesResult cycles(Work& work, const CyclesQuery& query) {
    const HeapReader& heap = work.heap();
    const ObjectStates& states = work.states();
    if (work.progress()) work.progress()("cycles", 0);
    CyclesResult result;
    result.query = query;
    const auto question =
        KeptQuestion("cycles").with(query.unreachable).with(query.uncollectable).with(query.reachable);
    FoundCycles found =
        kept_answer(work.answers(), question, heap, [&] { return find_cycles(work, result); });
    result.members = members_of(found, heap.snapshot().object_count());
    result.cycles = std::move(found.cycles);
    result.kinds = std::move(found.kinds);
    result.held = found.held;
    add_up(result);
    explain(heap.snapshot(), collectors_for_words(heap), result);
    describe_kinds(work.graph(), result);
    result.objects_in_state = states.counts;
    result.certain = states.collection.certain;
    const auto& memory = heap.snapshot().memory;
    if (memory.there()) result.in_use_bytes = memory->bytes_of(MemoryUse::in_use);
    for (const ObjectId object : garbage_list_items(heap)) {
        if (query.garbage_list != 0 && result.garbage_list.size() >= query.garbage_list) break;
        result.garbage_list.push_back(object_row(heap, object));
        result.garbage_list.back().state = states.of(object);
    }
    return result;
}

CycleRow cycle_row(Work& work, const CyclesResult& result, const Cycle& cycle, const CycleWishes& wishes) {
    const HeapGraph& graph = work.graph();
    CycleRow row;
    row.cycle = cycle;
    row.path = cycle_path(graph, result.members, cycle.component, wishes.steps);
    row.details =
        cycle_details(graph, work.states(), result.members, cycle.component, wishes.limit, wishes.opening);
    row.reason = result.reason(cycle);
    row.certain = is_certain(work.heap(), work.states(), result.members_of(cycle).front());
    return row;
}

}  // namespace heapsift
