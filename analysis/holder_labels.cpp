// Every object has its cheapest path, and so one reference by which it is said to be held. What the owner
// calls it is a label: the owner's type and the names of the steps from there, through containers: (Node,
// children, [*]). Labels are numbered as they are met, in the order in which the paths grew: an object's
// label is made of that of the object before it.

#include "analysis/holder_labels.h"

#include "analysis/object_row.h"
#include "analysis/path_expression.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint8_t deepest_label = 5;
constexpr std::size_t most_steps_printed = 12;

bool is_plain_container(std::string_view type) {
    constexpr std::string_view names[] = {"dict",
                                          "list",
                                          "tuple",
                                          "set",
                                          "frozenset",
                                          "cell",
                                          "collections.deque",
                                          "collections.OrderedDict",
                                          "collections.defaultdict",
                                          "mappingproxy"};
    return std::find(std::begin(names), std::end(names), type) != std::end(names);
}

PathWishes with_names(PathWishes wishes) {
    wishes.name_steps = true;
    return wishes;
}

}  // namespace

HolderLabels::HolderLabels(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
    : graph_(graph), heap_(graph.heap()), paths_(graph, with_names(std::move(wishes)), {}, {}, progress) {
    for (const TypeInfo& type : heap_.types()) {
        plain_.push_back(is_plain_container(type.name));
        module_.push_back(type.name == "module");
    }
    plain_.push_back(false);
    module_.push_back(false);
    label_all();
}

void HolderLabels::label_all() {
    label_.assign(graph_.object_count(), none);
    for (const ObjectId object : paths_.order()) {
        const std::uint32_t previous = paths_.previous(object);
        Label label;
        if (previous == none) {
            const HeapGraph::PlacedRoot& root = paths_.root(object);
            label.owner = owner_is_root + static_cast<std::uint64_t>(&root - graph_.roots().data());
            if (root.root.kind == RootKind::native || root.root.kind == RootKind::native_unseen ||
                root.root.kind == RootKind::immortal || root.root.kind == RootKind::static_type)
                label.owner = owner_is_root + first_root_like(root);  // of these one is like another
        } else {
            label.step = paths_.step(object);
            const TypeId type = heap_.type_of(previous);
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

bool HolderLabels::is_frame(TypeId type) const {
    return type != no_type && heap_.types()[type].name == "frame";
}
std::size_t HolderLabels::known(TypeId type) const {
    return std::min<std::size_t>(type, heap_.types().size());
}

std::uint64_t HolderLabels::first_root_like(const HeapGraph::PlacedRoot& root) {
    const auto place = static_cast<std::uint64_t>(&root - graph_.roots().data());
    return first_like_.emplace(std::pair(root.root.kind, root.parent), place).first->second;
}

std::string HolderLabels::step_text(std::uint32_t step) const {
    const StepName& name = paths_.step_names()[step];
    if (name.form == ReferenceForm::item) return "['*']";
    std::string text;
    heap_.visit_references_to(name.source, name.target, [&](const Reference& reference) {
        if (text.empty() && reference.followed) text = reference.name();
    });
    if (name.form == ReferenceForm::key) return " key '*'";
    if (name.form == ReferenceForm::index) return text.substr(0, text.rfind('[')) + "[*]";
    if (text.size() > 4 && text.starts_with("['") && text.ends_with("']"))
        return "." + text.substr(2, text.size() - 4);
    return text;
}

/// "func()" of a frame, "app" of a module.
std::pair<std::string, std::string> HolderLabels::root_text(const Root& root) const {
    const std::string expression = root_expression(graph_, root);
    if (root.frame >= 0) {
        const std::string function = graph_.frame({root.thread, root.frame}).name + "()";
        const bool local = !root.name.is_null();
        return {function, local ? "." + heap_.python_heap().unicode_text(root.name, 200).value_or("?")
                                : std::string(root.text)};
    }
    if (root.kind == RootKind::module) return {expression, ""};
    return {root_words_short(root), ""};
}
std::string HolderLabels::root_words_short(const Root& root) const {
    if (root.kind == RootKind::native) return "native code";
    if (root.kind == RootKind::native_unseen) return "not found";
    if (root.kind == RootKind::static_type) return "static types";
    return root_words(graph_, root);
}

std::pair<std::string, std::string> HolderLabels::words(std::uint32_t label) const {
    std::vector<std::string> steps;
    std::string holder, first;
    for (std::uint32_t at = label; at != none; at = labels_[at].above) {
        const Label& one = labels_[at];
        if (one.step != none) steps.push_back(step_text(one.step));
        if (one.above != none) continue;
        if (one.owner >= owner_is_root)
            std::tie(holder, first) = root_text(graph_.roots()[one.owner - owner_is_root].root);
        else
            holder = type_name(heap_, static_cast<TypeId>(one.owner));
    }
    std::string attribute = first;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (*step == ".__dict__" && step + 1 != steps.rend()) continue;
        if (*step == ".cell_contents") continue;
        constexpr std::string_view locals = ".f_locals['";
        if (const std::size_t at = step->rfind(locals);
            at != std::string::npos && step->ends_with("']") && holder.ends_with("()"))
            attribute += "." + step->substr(at + locals.size(), step->size() - at - locals.size() - 2);
        else
            attribute += *step;
    }
    return {holder, attribute.starts_with(".") ? attribute.substr(1) : attribute};
}

std::string HolderLabels::merged_expression(ObjectId object) const {
    const std::vector<ObjectId> path = paths_.path(object);
    const Root& root = paths_.root(path.front()).root;
    auto [text, local] = root_text(root);
    text += local;
    std::string last;
    std::size_t printed = 0;
    for (std::size_t i = 1; i < path.size(); ++i) {
        std::string step = step_text(paths_.step(path[i]));
        const bool is_last = i + 1 == path.size();
        if ((step == ".__dict__" && !is_last) || step == ".cell_contents") continue;
        if (step.starts_with(".f_locals['") && i == 1) step = "." + step.substr(11, step.size() - 13);
        const bool again = step == last && step.starts_with(".");
        if (!is_last && (again || printed >= most_steps_printed)) {
            if (!text.ends_with(".…")) text += ".…";
            last = step;
            continue;
        }
        text += step;
        last = step;
        ++printed;
    }
    return text;
}

}  // namespace heapsift
