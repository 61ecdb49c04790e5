// What rules ask is written once here, in terms of the graph: a sample of the content, the written steps of the
// path, and the names of what is largest inside an object. A sample is enough: that five thousand functions are
// the same closure shows in sixty-four of them.

#include "analysis/suspects/scene.h"

#include "analysis/object_paths.h"
#include "analysis/steps.h"

#include "parsers/libraries/greenlets.h"
#include "parsers/values/parts.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_in_sample = 64;
constexpr int most_steps_down = 8;

/// Of a generator, a coroutine or an asynchronous generator, up to 3.10 an object of its own.
bool is_own_frame(const ReferenceStep& step) {
    return step.name == "gi_frame" || step.name == "cr_frame" || step.name == "ag_frame";
}

/// Of a million objects that one dominates, 64 take time to find; what hangs on these does not.
struct KeptSample {
    std::vector<ObjectId> objects;

    std::size_t rows() const { return objects.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.objects, [&](auto& object, Part& p) { kept_object(object, p, heap); });
    }
};

}  // namespace

Scene::Scene(const RetainedLookup& retained, const TopHolder& holder, KeptAnswers* answers)
    : retained_(retained), graph_(retained.graph()), holder_(holder), answers_(answers) {}

void Scene::take_sample() const {
    sampled_ = true;
    if (holder_.joint) {
        for (const NodeId member : holder_.joint->sample) sample_.push_back(HeapGraph::object_of(member));
        return;
    }
    if (holder_.content != no_type) sample_ = sample_below(holder_.node, holder_.content);
}

std::vector<ObjectId> Scene::sample_below(NodeId above, TypeId type) const {
    const auto question = KeptQuestion("sample").with(std::uint32_t{above}).with(std::uint32_t{type});
    return kept_answer(answers_, question, heap(), [&] { return KeptSample{find_sample_below(above, type)}; })
        .objects;
}

std::vector<ObjectId> Scene::find_sample_below(NodeId above, TypeId type) const {
    std::vector<ObjectId> all;
    retained_.visit_children(above, [&](NodeId node) {
        if (graph_.kind(node) != NodeKind::object) return;
        const ObjectId object = HeapGraph::object_of(node);
        if (graph_.columns().type_of(object) == type) all.push_back(object);
    });
    std::vector<ObjectId> some;
    const std::size_t step = std::max<std::size_t>(1, all.size() / most_in_sample);
    for (std::size_t i = 0; i < all.size() && some.size() < most_in_sample; i += step) some.push_back(all[i]);
    return some;
}

std::vector<ObjectId> Scene::held_by_group() const {
    std::vector<ObjectId> found;
    if (graph_.kind(holder_.node) != NodeKind::group) return found;
    for (const NodeId target : graph_.targets(holder_.node)) {
        if (found.size() == most_in_sample) break;
        if (graph_.kind(target) == NodeKind::object) found.push_back(HeapGraph::object_of(target));
    }
    return found;
}

ObjectId Scene::waiting_below(ObjectId object) const {
    ObjectId at = object;
    for (int steps = 0; steps < most_steps_down; ++steps) {
        const TypeId type = graph_.columns().type_of(at);
        if (type == no_type) return no_object;
        const TypeInfo& info = graph_.columns().types[type];
        if (has_own_frame(info.known) || is_greenlet(info) ||
            is_a(at, {"_asyncio.Task", "asyncio.tasks.Task"}))
            return at;
        const NodeId child = retained_.largest_child(HeapGraph::node_of(at));
        if (child == no_node || graph_.kind(child) != NodeKind::object) return no_object;
        const ObjectId next = HeapGraph::object_of(child);
        if (2 * retained(next) < retained(object)) return no_object;
        at = next;
    }
    return no_object;
}

std::vector<ObjectId> Scene::waiting() const {
    std::vector<ObjectId> from = sample();
    // An event of gevent has a list of those that wait for it.
    if (from.size() == 1 && !container_word(*this, from.front()).empty())
        if (const NodeId child = retained_.largest_child(HeapGraph::node_of(from.front()));
            child != no_node && graph_.kind(child) == NodeKind::object)
            from = sample_below(HeapGraph::node_of(from.front()),
                                graph_.columns().type_of(HeapGraph::object_of(child)));
    std::vector<ObjectId> found;
    std::uint64_t all = 0, by_those = 0;
    for (const ObjectId object : from) {
        all += retained(object);
        const ObjectId one = waiting_below(object);
        if (one == no_object) continue;
        found.push_back(one);
        by_those += retained(object);
    }
    if (2 * by_those < all) found.clear();
    return found;
}

bool Scene::is(ObjectId object, KnownType known) const {
    return object != no_object && heap().snapshot().types.is(heap().snapshot().type_of(object), known);
}

std::string Scene::type_of(ObjectId object) const {
    return object == no_object ? std::string()
                               : type_name(heap().snapshot().types, heap().snapshot().type_of(object));
}

bool Scene::is_a(ObjectId object, std::initializer_list<std::string_view> names) const {
    return object != no_object && type_is_a(heap().snapshot().type_of(object), names);
}

bool Scene::type_is_a(TypeId type, std::initializer_list<std::string_view> names) const {
    return heap().snapshot().types.derives_from_named(type, names);
}

bool Scene::is_fully_counted(ObjectId object) const {
    return heap().collector_facts(object).refcount <=
           static_cast<std::int64_t>(heap().snapshot().references->found(object));
}

bool Scene::is_class(ObjectId object) const {
    return object != no_object &&
           heap().snapshot().types.find(heap().snapshot().address_of(object)) != no_type;
}

std::optional<ClassInSource> Scene::class_in_source(TypeId type) const {
    return heapsift::class_in_source(heap(), type);
}

std::vector<ClassInSource> Scene::classes_in_source(TypeId type) const {
    return heapsift::classes_in_source(heap(), type);
}

std::string Scene::qualified_name(TypeId type) const {
    const auto found = class_in_source(type);
    return found ? found->name : std::string();
}

bool Scene::is_module_of_program(std::string_view name) const {
    const RootSet& roots = *heap().snapshot().roots;
    return std::any_of(roots.modules().begin(), roots.modules().end(), [&](const LoadedModule& module) {
        return module.name == name && is_of_program(roots, module);
    });
}

bool Scene::has_weak_references(ObjectId object) const {
    const std::int64_t offset = heap().snapshot().type_info(object).weaklistoffset;  // negative: before it
    return offset != 0 &&
           !python()
                .pointer(heap().snapshot().address_of(object) + static_cast<std::uint64_t>(offset))
                .is_null();
}

ObjectReader Scene::read(ObjectId object) const {
    return {python(), heap().snapshot().address_of(object), heap().snapshot().type_info(object)};
}

Address Scene::attribute(ObjectId object, std::string_view name) const {
    Address found, dict;
    if (object == no_object) return found;
    heap().visit_references(object, [&](const Reference& reference) {
        if (reference.step.is(Field::attributes)) dict = reference.target;
        if (found.is_null() && reference.step.kind == ReferenceStep::Kind::attribute &&
            reference.step.name == name)
            found = reference.target;
    });
    return found.is_null() && !dict.is_null() ? python().dict_value(dict, name) : found;
}

std::string Scene::whole_number(Address object) const {
    const ObjectId id = heap().snapshot().find(object);
    return is(id, KnownType::integer) ? heap().value(id, 20).text : std::string();
}

const ReferenceStep* Scene::step(std::size_t back) const {
    const auto& steps = holder_.expression.steps;
    return back < steps.size() ? &steps[steps.size() - 1 - back].name : nullptr;
}

ObjectId Scene::owner(std::size_t back) const {
    const auto& steps = holder_.expression.steps;
    if (back >= steps.size() || holder_.path.empty()) return no_object;
    const std::size_t at = steps.size() - 1 - back;
    const std::size_t place = at == 0 ? 0 : steps[at - 1].leads_to;
    return place < holder_.path.size() ? holder_.path[place] : no_object;
}

ObjectId Scene::largest_below(ObjectId object) const {
    const NodeId child = retained_.largest_child(HeapGraph::node_of(object));
    if (child == no_node || graph_.kind(child) != NodeKind::object) return no_object;
    const ObjectId found = HeapGraph::object_of(child);
    return 2 * retained(found) >= retained(object) ? found : no_object;
}

std::optional<Scene::Part> Scene::largest_part(ObjectId object) const {
    std::optional<Part> part;
    ObjectId at = object;
    for (int steps = 0; steps < most_steps_down; ++steps) {
        const NodeId child = retained_.largest_child(HeapGraph::node_of(at));
        if (child == no_node || graph_.kind(child) != NodeKind::object) break;
        const ObjectId next = HeapGraph::object_of(child);
        if (2 * retained(next) < retained(object)) break;
        const ReferenceStep step = step_between(heap(), at, next).step;
        const bool is_local =
            step.kind == ReferenceStep::Kind::local || step.kind == ReferenceStep::Kind::cell ||
            step.kind == ReferenceStep::Kind::frame_local || step.kind == ReferenceStep::Kind::hidden_local;
        if (is_local)
            part = Part{step.name, retained(next), true, is(at, KnownType::frame) ? at : no_object};
        else if (step.kind == ReferenceStep::Kind::attribute && !step.nameless &&
                 !stands_between(step, false) && !is_dunder(step) && !is_own_frame(step) &&
                 !has_own_frame(graph_.columns().type_info(next).known) && !step.is(Field::tb_frame) &&
                 !step.is(Field::tb_next) && !step.is(Field::f_back))
            part = Part{step.name, retained(next)};
        else if (step.kind == ReferenceStep::Kind::item)
            if (const auto attribute = as_attribute(step))
                if (is_a(at, {"dict"}) && part == std::nullopt && !attribute->name.empty() && steps > 0 &&
                    step_between(heap(), object, at).step.is(Field::attributes))
                    part = Part{attribute->name, retained(next)};
        if (part) break;
        at = next;
    }
    return part;
}

SourcePlace called_by_most(const Scene& scene, const std::vector<Address>& callables) {
    const PythonHeap& python = scene.python();
    const auto& l = python.layout();
    MostFrequent<SourcePlace> places;
    for (Address callable : callables) {
        const ObjectId object = scene.heap().snapshot().find(callable);
        if (scene.is_a(object, {"functools.partial"})) callable = python.pointer(callable + *l.partial.fn);
        if (python.types().is(python.type_of(callable), KnownType::method))
            callable = python.pointer(callable + *l.method.im_func);
        places.add(place_of_function(python, callable));
    }
    const SourcePlace* place = places.get();
    return place ? *place : SourcePlace();
}

std::string words_of_most(const Scene& scene, const std::vector<Address>& callables) {
    return words_of(called_by_most(scene, callables));
}

std::vector<std::string> names_of_callee(const SourcePlace& called) {
    if (!called.known() || called.function.find('<') != std::string::npos) return {};
    return {called.function.substr(called.function.rfind('.') + 1)};
}

std::string container_word(const Scene& scene, ObjectId object) {
    for (const auto& [known, word] : {std::pair{KnownType::list, "list"},
                                      {KnownType::dict, "dict"},
                                      {KnownType::ordered_dict, "OrderedDict"},
                                      {KnownType::default_dict, "defaultdict"},
                                      {KnownType::set, "set"},
                                      {KnownType::deque, "deque"}})
        if (scene.is(object, known)) return word;
    return {};
}

std::optional<std::uint64_t> entries_of_table(const Scene& scene, ObjectId object) {
    const std::string container = container_word(scene, object);
    if (container.empty() || container == "list" || container == "deque") return std::nullopt;
    const ObjectReader reader = scene.read(object);
    const auto& l = scene.python().layout();
    const auto entries = container == "set" ? reader.integer<std::int64_t>(l.set.used)
                                            : reader.integer<std::int64_t>(l.dict.ma_used);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, entries));
}

}  // namespace heapsift
