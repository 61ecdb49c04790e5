// Every object has one cheapest path, and so one reference by which it is said to be held. Its label is what
// the owner calls it: the owner's type and the names of the steps from there, through containers: (Node,
// children, [*]). Labels are numbered as they are met, in the order in which the paths grew, so that each
// object's label extends that of the object before it.

#include "analysis/holder_labels.h"

#include "analysis/object_row.h"
#include "analysis/path_expression.h"
#include "analysis/steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint8_t deepest_label = 5;
constexpr std::size_t most_steps_printed = 12;

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

PathWishes with_names(PathWishes wishes) {
    wishes.name_steps = true;
    return wishes;
}

}  // namespace

HolderLabeler::HolderLabeler(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
    : graph_(graph),
      heap_(graph.heap()),
      paths_(root_paths(graph, with_names(std::move(wishes)), {}, {}, progress)) {
    for (const TypeInfo& type : columns().types) {
        plain_.push_back(is_plain_container(type.known));
        module_.push_back(type.known == KnownType::module);
    }
    plain_.push_back(false);
    module_.push_back(false);
    label_all();
}

void HolderLabeler::label_all() {
    label_.assign(graph_.object_count(), none);
    for (const NodeId node : paths_.order()) {
        const ObjectId object = graph_.object_of(node);
        const ObjectId previous = paths_.previous(object);
        Label label;
        if (previous == no_object) {
            const HeapGraph::PlacedRoot& root = cheapest_root(graph_, object);
            label.owner = owner_is_root + static_cast<std::uint64_t>(&root - graph_.roots().data());
            if (root.root.kind == RootKind::native || root.root.kind == RootKind::native_unseen ||
                root.root.kind == RootKind::immortal || root.root.kind == RootKind::static_type)
                label.owner = owner_is_root + first_root_like(root);  // any of these stands for all of them
        } else {
            label.step = paths_.step(object);
            const TypeId type = columns().type_of(previous);
            const std::uint32_t above = label_[previous];
            const bool goes_on = plain_[known(type)] || module_[known(type)] || is_frame(type);
            if (goes_on && labels_[above].depth < deepest_label) {
                label.above = above;
                label.depth = static_cast<std::uint8_t>(labels_[above].depth + 1);
            } else if (goes_on) {
                label_[object] = above;  // deeper than anybody wants to read
                continue;
            } else {
                label.owner = type;
            }
        }
        const auto [at, added] = numbers_.emplace(label, static_cast<std::uint32_t>(labels_.size()));
        if (added) labels_.push_back(label);
        label_[object] = at->second;
    }
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
    step = ReferenceStep();
    heap_.visit_references_to(name.source, {&name.target, 1}, [&](const Reference& reference) {
        if (!step.known() && reference.followed) step = reference.step;
    });
    if (name.form == ReferenceForm::index) {
        step.any = true;
        step.number = 0;
        if (step.kind == ReferenceStep::Kind::place)
            step.name.erase(std::min(step.name.rfind('['), step.name.size()));
    } else if (step.kind == ReferenceStep::Kind::item && !step.name.empty()) {
        step = attribute_step(step.name);
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
    if (root.kind == RootKind::native) return "native code";
    if (root.kind == RootKind::native_unseen) return "not found";
    if (root.kind == RootKind::static_type) return "static types";
    return root_words(graph_, root);
}

HolderName HolderLabeler::name(std::uint32_t label) const {
    std::vector<ReferenceStep> steps;  // from the object up
    HolderName name;
    for (std::uint32_t at = label; at != none; at = labels_[at].above) {
        const Label& one = labels_[at];
        if (one.step != none) steps.push_back(step(one.step));
        if (one.above != none) continue;
        if (one.owner >= owner_is_root)
            name = root_name(graph_.roots()[one.owner - owner_is_root].root);
        else
            name.owner = type_name(columns().types, static_cast<TypeId>(one.owner));
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (stands_between(*step, step + 1 == steps.rend())) continue;
        const bool local = name.frame && step->kind == ReferenceStep::Kind::local;
        name.steps.push_back(local ? attribute_step(step->name) : *step);
    }
    return name;
}

std::string HolderLabeler::merged_expression(ObjectId object) const {
    const std::vector<ObjectId> path = paths_.path(object);
    const HolderName root = root_name(cheapest_root(graph_, path.front()).root);
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
