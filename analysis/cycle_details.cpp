#include "analysis/cycle_details.h"

#include "analysis/cycle_opening.h"
#include "analysis/object_paths.h"
#include "analysis/steps.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <unordered_map>

namespace heapsift {
namespace {

/// Recognizes back references by their names.
std::uint8_t reluctance_to_cut(const ReferenceStep& step) {
    for (const char* word : {"parent", "owner", "callback", "closure", "cell_contents"})
        if (step.name.find(word) != std::string::npos ||
            (step.key && step.key->text.find(word) != std::string::npos))
            return 0;
    if (step.is(Field::attributes) || step.is(Field::class_)) return 9;
    return is_dunder(step) ? 5 : 2;
}

// An instance of one of the program's classes says most; a class, its dict, a cell say least.
ObjectId first_to_show(const HeapSnapshot& heap, std::span<const ObjectId> members) {
    const auto rank = [&](ObjectId object) {
        const TypeInfo& type = heap.type_info(object);
        if (heap.types.find(heap.address_of(object)) != no_type) return 4;
        if (type.python_class) return 0;
        if (has_own_frame(type.known)) return 1;
        if (type.known == KnownType::dict || type.known == KnownType::tuple ||
            type.known == KnownType::cell || type.known == KnownType::list)
            return 3;
        return 2;
    };
    return *std::min_element(members.begin(), members.end(),
                             [&](ObjectId a, ObjectId b) { return rank(a) < rank(b); });
}

/// A few of the elements of `these` that are not in `those`: "with frame, traceback and 2 more".
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

bool read_alike(const CyclePath& one, const CyclePath& other) {
    return one.cut == other.cut && one.steps.size() == other.steps.size() &&
           std::equal(one.steps.begin(), one.steps.end(), other.steps.begin(), other.steps.end(),
                      [](const CycleStep& a, const CycleStep& b) {
                          return short_type_name(a.type) == short_type_name(b.type) &&
                                 notation(a.name) == notation(b.name);
                      });
}

namespace {

/// From `start` back to it, over references for which joins(source, target); without steps if it is not found among
/// the first `most_objects`.
template <class Joins>
CyclePath shortest_cycle(const HeapGraph& graph, ObjectId start, std::size_t most_steps,
                         std::size_t most_objects, Joins&& joins) {
    const HeapSnapshot& columns = graph.columns();
    std::unordered_map<ObjectId, ObjectId> previous;
    std::deque<ObjectId> pending{start};
    bool closed = false;
    while (!pending.empty() && !closed && previous.size() < most_objects) {
        const ObjectId source = pending.front();
        pending.pop_front();
        for (const ObjectId target : graph.targets(source)) {
            if (!joins(source, target)) continue;
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
        const ReferenceStep name = step_between(graph.heap(), objects[i], objects[i + 1]).step;
        const TypeId type = columns.type_of(objects[i]);
        if (const auto attribute = in_dict ? as_attribute(name) : std::nullopt)
            path.steps.back().name = *attribute;
        else
            path.steps.push_back({type_name(columns.types, type), name, type});
        in_dict = !in_dict && name.is(Field::attributes);
    }
    path.cut = path.steps.size() > most_steps;
    if (path.cut) path.steps.resize(most_steps);
    return path;
}

}  // namespace

CyclePath cycle_path(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                     std::size_t most_steps) {
    const ObjectId start = first_to_show(graph.columns(), members.of(component));
    return shortest_cycle(
        graph, start, most_steps, graph.columns().object_count() + std::size_t{1},
        [&](ObjectId source, ObjectId target) { return members.joins(graph, source, target); });
}

CyclePath cycle_through(const HeapGraph& graph, ObjectId start, std::size_t most_steps) {
    constexpr std::size_t most_objects = 100'000;
    return shortest_cycle(graph, start, most_steps, most_objects,
                          [&](ObjectId source, ObjectId target) { return graph.follows(source, target); });
}

std::string cycle_unlike(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                         std::uint32_t other) {
    const HeapReader& heap = graph.heap();
    const HeapSnapshot& columns = heap.snapshot();
    constexpr std::size_t most_members = 1000;
    struct Words {
        std::set<std::string> types, names;
    };
    const auto words_of = [&](std::uint32_t one) {
        Words words;
        const auto all = members.of(one);
        for (const ObjectId member : all.first(std::min(all.size(), most_members))) {
            words.types.insert(type_name(columns.types, columns.type_of(member)));
            heap.visit_references(member, [&](const Reference& reference) {
                const ObjectId target = reference.followed ? columns.find(reference.target) : no_object;
                if (target == no_object || !members.joins(graph, member, target)) return;
                const ReferenceStep name = as_attribute(reference.step).value_or(reference.step);
                if (is_dotted(name)) words.names.insert(notation(name));
            });
        }
        return words;
    };
    const Words mine = words_of(component), its = words_of(other);
    for (const std::string& text :
         {not_in("with ", mine.types, its.types), not_in("also by ", mine.names, its.names),
          not_in("without ", its.types, mine.types), not_in("not by ", its.names, mine.names)})
        if (!text.empty()) return text;
    return "by other references between the same types";
}

CycleDetails cycle_details(const HeapGraph& graph, const ObjectStates& states, const CycleMembers& members,
                           std::uint32_t component, std::size_t limit, bool with_opening) {
    const HeapReader& heap = graph.heap();
    CycleDetails result;
    const std::span<const ObjectId> all = members.of(component);
    const auto room = [&](std::size_t shown) { return limit == 0 || shown < limit; };
    for (const ObjectId member : all) {
        if (!room(result.members.size())) break;
        result.members.push_back(object_row(heap, member));
        result.members.back().state = states.of(member);
    }
    const auto number = [&](ObjectId object) {
        return static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), object) - all.begin());
    };
    std::vector<MemberEdge> edges;
    std::vector<std::uint32_t> place;  // by edge: its index among those of its source
    const auto visit_edges = [&](ObjectId member, auto visit) {
        heap.visit_references(member, [&](const Reference& reference) {
            const ObjectId target = reference.followed ? heap.snapshot().find(reference.target) : no_object;
            if (target != no_object && members.joins(graph, member, target)) visit(target, reference);
        });
    };
    const auto row = [&](ObjectId member, ObjectId target, const Reference& reference) {
        return EdgeRow{brief_object_row(heap, member), brief_object_row(heap, target), reference, true,
                       std::nullopt};
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
