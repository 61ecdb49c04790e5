// Every object has one cheapest path, and so one reference by which it is said to be held. Its label is what
// the owner calls it: the owner's type and the names of the steps from there, through containers: (Node,
// children, [*]). Labels are numbered as they are met, in the order in which the paths grew, so that each
// object's label extends that of the object before it.

#include "analysis/holder_labels.h"

#include "analysis/object_row.h"
#include "analysis/path_expression.h"
#include "analysis/source_places.h"
#include "analysis/steps.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint8_t deepest_label = 5;
constexpr std::size_t most_steps_printed = 12;

/// What most of a class's attributes are: there are thousands, the same ones in every class.
bool is_of_method(const TypeInfo& type) {
    constexpr std::array<std::string_view, 9> names = {
        "classmethod",        "staticmethod",           "property",
        "getset_descriptor",  "member_descriptor",      "method_descriptor",
        "wrapper_descriptor", "classmethod_descriptor", "builtin_function_or_method"};
    return type.known == KnownType::function ||
           std::find(names.begin(), names.end(), type.name) != names.end();
}

/// A local of a call that waits in a greenlet.
bool waits_in_function(const ReferenceStep& step) {
    return step.kind == ReferenceStep::Kind::frame_local && !step.within.empty();
}

PathWishes with_names(PathWishes wishes) {
    wishes.name_steps = true;
    return wishes;
}

}  // namespace

bool is_plain_container(KnownType type) {
    switch (type) {
        case KnownType::dict:
        case KnownType::list:
        case KnownType::tuple:
        case KnownType::set:
        case KnownType::frozen_set:
        case KnownType::cell:
        case KnownType::deque:
        case KnownType::ordered_dict:
        case KnownType::default_dict:
        case KnownType::mapping_proxy:
            return true;
        default:
            return false;
    }
}

bool names_thread(RootKind kind) {
    return kind == RootKind::thread || kind == RootKind::thread_local_ || kind == RootKind::context;
}

HolderLabeler::HolderLabeler(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
    : graph_(graph),
      heap_(graph.heap()),
      calls_last_(wishes.calls_last),
      paths_(root_paths(graph, with_names(std::move(wishes)), {}, {}, progress)),
      examples_(heap_, paths_.step_names) {
    for (const TypeInfo& type : columns().types) {
        plain_.push_back(is_plain_container(type.known));
        module_.push_back(type.known == KnownType::module);
        cache_.push_back(type.name == "functools._lru_cache_wrapper");
        method_.push_back(is_of_method(type));
        metatype_.push_back(false);
    }
    for (std::vector<bool>* flags : {&plain_, &module_, &cache_, &method_, &metatype_})
        flags->push_back(false);
    for (const TypeInfo& type : columns().types)
        if (type.metatype != no_type) metatype_[type.metatype] = true;
    label_all();
}

void HolderLabeler::label_all() {
    label_ = NarrowNumbers(graph_.object_count());
    for (const NodeId node : paths_.order()) {
        const ObjectId object = graph_.object_of(node);
        const ObjectId previous = paths_.previous(object);
        label_.set(object, previous == no_object
                               ? label_by(cheapest_root(graph_, object, calls_last_))
                               : label_of(previous, label_[previous], object, paths_.step(object)));
    }
}

std::uint32_t HolderLabeler::numbered(const Label& label) {
    const auto [at, added] = numbers_.try_emplace(label, static_cast<std::uint32_t>(labels_.size()));
    if (added) labels_.push_back(label);
    return at->second;
}

std::uint32_t HolderLabeler::label_by(const HeapGraph::PlacedRoot& root) {
    Label label;
    label.owner = owner_is_root + static_cast<std::uint64_t>(&root - graph_.roots().data());
    if (root.root.kind == RootKind::native || root.root.kind == RootKind::native_unseen ||
        root.root.kind == RootKind::immortal || root.root.kind == RootKind::static_type)
        label.owner = owner_is_root + first_root_like(root);  // any of these stands for all of them
    return numbered(label);
}

std::uint32_t HolderLabeler::label_by(ObjectId source, ObjectId target, const ReferenceName& name) {
    return label_of(source, label_[source], target, paths_.number_step(graph_, source, target, name));
}

std::uint32_t HolderLabeler::label_below(std::uint32_t above, ObjectId target) {
    return label_of(paths_.previous(target), above, target, paths_.step(target));
}

std::uint32_t HolderLabeler::label_of(ObjectId source, std::uint32_t above, ObjectId target,
                                      std::uint32_t step) {
    if (const auto label = by_function(source, target)) return numbered(*label);
    Label label{.step = step};
    if (!passes_on(source)) {
        label.owner = columns().type_of(source);
    } else if (const TypeId type = class_with_dict(source);
               type != no_type && !method_[known(columns().type_of(target))]) {
        label.owner = owner_is_class + std::uint32_t{type};
    } else {
        if (labels_[above].depth >= deepest_label) return above;  // deeper than anybody wants to read
        label.above = above;
        label.depth = static_cast<std::uint8_t>(labels_[above].depth + 1);
    }
    return numbered(label);
}

TypeId HolderLabeler::class_with_dict(ObjectId object) const {
    const ObjectId holder = paths_.previous(object);
    if (holder == no_object || !metatype_[known(columns().type_of(holder))]) return no_type;
    const Address type = columns().address_of(holder);
    const bool of_attributes = heap_.python_heap().type_dict(type) == columns().address_of(object);
    return of_attributes ? columns().types.find(type) : no_type;
}

/// A person knows the function, not the tuple of cells or the wrapper between it and what it holds.
std::optional<HolderLabeler::Label> HolderLabeler::by_function(ObjectId source, ObjectId target) const {
    if (columns().types.is(columns().type_of(source), KnownType::tuple) &&
        columns().types.is(columns().type_of(target), KnownType::cell))
        return closure_variable(source, target);
    if (!cache_[known(columns().type_of(source))]) return std::nullopt;
    const PythonHeap& python = heap_.python_heap();
    const auto& cache = python.layout().lru_cache.cache;
    const bool entries = cache.present() && python.pointer(columns().address_of(source) + *cache) ==
                                                columns().address_of(target);
    const ObjectId function = entries ? first_with_code_of(function_of_cache(source)) : no_object;
    if (function == no_object) return std::nullopt;
    return Label{.owner = owner_is_cache + std::uint32_t{function}};
}

std::optional<HolderLabeler::Label> HolderLabeler::closure_variable(ObjectId closure, ObjectId cell) const {
    constexpr std::int64_t most_variables = 1000;
    const PythonHeap& python = heap_.python_heap();
    const auto& l = python.layout();
    const ObjectId holder = paths_.previous(closure);
    if (holder == no_object || !columns().types.is(columns().type_of(holder), KnownType::function) ||
        !l.function.func_closure.present())
        return std::nullopt;
    const Address tuple = columns().address_of(closure), function = columns().address_of(holder);
    if (python.pointer(function + *l.function.func_closure) != tuple) return std::nullopt;
    const ObjectId first = first_with_code_of(function);
    const std::int64_t count = python.var_size(tuple);
    if (first == no_object || count > most_variables) return std::nullopt;
    for (std::uint32_t i = 0; i < count; ++i)
        if (python.pointer(tuple + *l.tuple.ob_item + 8 * std::uint64_t{i}) == columns().address_of(cell))
            return Label{.step = i, .owner = owner_is_closure + std::uint32_t{first}};
    return std::nullopt;
}

Address HolderLabeler::function_of_cache(ObjectId wrapper) const {
    const PythonHeap& python = heap_.python_heap();
    const auto& func = python.layout().lru_cache.func;
    return func.present() ? python.pointer(columns().address_of(wrapper) + *func) : Address();
}

ObjectId HolderLabeler::first_with_code_of(Address function) const {
    const PythonHeap& python = heap_.python_heap();
    const auto& code = python.layout().function.func_code;
    const ObjectId object = function.is_null() ? no_object : columns().find(function);
    if (object == no_object || !code.present() ||
        !columns().types.is(columns().type_of(object), KnownType::function))
        return no_object;
    return functions_.emplace(python.pointer(function + *code).value, object).first->second;
}

bool HolderLabeler::is_frame(TypeId type) const { return columns().types.is(type, KnownType::frame); }
std::size_t HolderLabeler::known(TypeId type) const {
    return std::min<std::size_t>(type, columns().types.size());
}

std::uint64_t HolderLabeler::first_root_like(const HeapGraph::PlacedRoot& root) {
    const auto place = static_cast<std::uint64_t>(&root - graph_.roots().data());
    return first_like_.emplace(std::pair(root.root.kind, root.parent), place).first->second;
}

ReferenceStep HolderLabeler::step(std::uint32_t number) const {
    const StepName& name = paths_.step_names[number];
    ReferenceStep step;
    step.any = true;
    if (name.form == ReferenceForm::item || name.form == ReferenceForm::key) {
        step.kind = name.form == ReferenceForm::item ? ReferenceStep::Kind::item : ReferenceStep::Kind::key;
        return step;
    }
    step = examples_.step(number);
    if (name.form == ReferenceForm::index) {
        step.any = true;
        step.number = 0;
        if (step.kind == ReferenceStep::Kind::place)
            step.name.erase(std::min(step.name.rfind('['), step.name.size()));
    } else if (step.kind == ReferenceStep::Kind::item && is_identifier(step.name)) {
        step = attribute_step(step.name);
    } else if (step.kind == ReferenceStep::Kind::odd_attribute ||
               (step.kind == ReferenceStep::Kind::item && !step.name.empty())) {
        step = {};  // it is data, as the keys of other dicts are: one holder, whatever they are
        step.kind = ReferenceStep::Kind::odd_attribute;
        step.any = true;
    }
    return step;
}

/// "func()" and the local for a frame, "app" for a module.
HolderName HolderLabeler::root_name(const Root& root) const {
    HolderName name;
    if (root.frame >= 0) {
        name.frame = true;
        name.owner = graph_.frame({root.thread, root.frame}).name + "()";
        const ReferenceStep first =
            root.name.is_null()
                ? field_step(FieldName::read(root.text))
                : attribute_step(heap_.python_heap().unicode_text(root.name, 200).value_or("?"));
        if (first.known()) name.steps.push_back(first);
        return name;
    }
    name.owner = root.kind == RootKind::module ? root_expression(graph_, root) : root_words_short(root);
    if (name.owner.empty())  // a module whose name means another, or none
        name.owner = fmt::format("{:#x}", columns().address_of(root.object).value);
    return name;
}
std::string HolderLabeler::root_words_short(const Root& root) const {
    if (root.kind == RootKind::native) return *root.text ? root.text : "native code";
    if (root.kind == RootKind::native_unseen) return "not found";
    if (root.kind == RootKind::static_type) return "static types";
    return root_words(graph_, root);
}

HolderName HolderLabeler::name(std::uint32_t label) const {
    std::vector<ReferenceStep> steps;  // from the object up
    HolderName name;
    for (std::uint32_t at = label; at != none; at = labels_[at].above) {
        const Label& one = labels_[at];
        if (one.owner >= owner_is_closure) {
            name = function_name(one);
            continue;
        }
        if (one.step != none) steps.push_back(step(one.step));
        if (one.above != none) continue;
        if (one.owner >= owner_is_class)
            name.owner = type_name(columns().types, static_cast<TypeId>(one.owner - owner_is_class));
        else if (one.owner >= owner_is_root)
            name = root_name(graph_.roots()[one.owner - owner_is_root].root);
        else
            name.owner = type_name(columns().types, static_cast<TypeId>(one.owner));
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (stands_between(*step, step + 1 == steps.rend())) continue;
        if (waits_in_function(*step)) {  // as if the function ran in a thread
            name = {.owner = step->within, .frame = true, .steps = {attribute_step(step->name)}};
            continue;
        }
        const bool local = name.frame && step->kind == ReferenceStep::Kind::local;
        name.steps.push_back(local ? attribute_step(step->name) : *step);
    }
    return name;
}

const HeapGraph::PlacedRoot* HolderLabeler::root(std::uint32_t label) const {
    while (labels_[label].above != none) label = labels_[label].above;
    const std::uint64_t owner = labels_[label].owner;
    return owner < owner_is_root || owner >= owner_is_class ? nullptr
                                                            : &graph_.roots()[owner - owner_is_root];
}

bool HolderLabeler::names_thread(std::uint32_t label) const {
    const HeapGraph::PlacedRoot* begins = root(label);
    return begins && heapsift::names_thread(begins->root.kind);
}

HolderName HolderLabeler::function_name(const Label& label) const {
    const PythonHeap& python = heap_.python_heap();
    const Address function = columns().address_of(ObjectId(static_cast<std::uint32_t>(label.owner)));
    const SourcePlace place = place_of_function(python, function);
    HolderName name;
    const bool cache = label.owner >= owner_is_cache;
    name.owner = (cache ? "lru_cache of " : "closure of ") + (place.known() ? place.function : "a function");
    if (cache) return name;
    const std::vector<std::string> variables = free_variables(python, function);
    const bool found = label.step < variables.size() && !variables[label.step].empty();
    name.steps.push_back(attribute_step(found ? variables[label.step] : "?"));
    return name;
}

std::string HolderLabeler::merged_expression(ObjectId object) const {
    const std::vector<ObjectId> path = paths_.path(object);
    const HolderName root = root_name(cheapest_root(graph_, path.front(), calls_last_).root);
    std::string text = root.owner;
    for (const ReferenceStep& step : root.steps) text += notation(step);
    ReferenceStep last;
    bool shortened = false;
    std::size_t printed = 0;
    for (std::size_t i = 1; i < path.size(); ++i) {
        ReferenceStep step = this->step(paths_.step(path[i]));
        const bool is_last = i + 1 == path.size();
        if (stands_between(step, is_last)) continue;
        if (i == 1 && step.kind == ReferenceStep::Kind::local && step.own_frame)
            step = attribute_step(step.name);
        const bool again = step == last && is_dotted(step);
        last = step;
        if (waits_in_function(step)) {
            text = step.within + "." + step.name;
            shortened = false;
            printed = 1;
            continue;
        }
        if (!is_last && (again || printed >= most_steps_printed)) {
            if (!shortened) text += ".…";
            shortened = true;
            continue;
        }
        text += notation(step);
        shortened = false;
        ++printed;
    }
    return text;
}

std::string HolderName::attribute() const {
    std::string text;
    for (const ReferenceStep& step : steps) text += notation(step);
    return !steps.empty() && is_dotted(steps.front()) ? text.substr(1) : text;
}

bool HolderName::joined() const {
    if (steps.empty()) return false;
    const ReferenceStep& first = steps.front();
    return first.kind == ReferenceStep::Kind::item || first.kind == ReferenceStep::Kind::key ||
           first.kind == ReferenceStep::Kind::place ||
           (first.kind == ReferenceStep::Kind::index && !is_dotted(first));
}

}  // namespace heapsift
