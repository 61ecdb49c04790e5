// Every object has its cheapest path, and so one reference by which it is said to be held. What the owner calls it is a label:
// the owner's type and the names of the steps from there, through containers: (Node, children, [*]). Labels are numbered as they
// are met, in the order in which the paths grew: an object's label is made of that of the object before it.

#include "analysis/holders.h"

#include "analysis/object_row.h"

#include "analysis/path_expression.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint32_t none = RootPaths::none;
constexpr std::uint8_t deepest_label = 5;
constexpr std::size_t most_steps_printed = 12;

struct Label {
    std::uint32_t above = none;  // the label that it goes on; else `owner` says who holds it
    std::uint32_t step = none;   // RootPaths::step_names
    std::uint64_t owner = 0;     // a type's number, or a root's place + owner_is_root
    std::uint8_t depth = 0;
    bool operator==(const Label& o) const { return above == o.above && step == o.step && owner == o.owner; }
};
constexpr std::uint64_t owner_is_root = std::uint64_t{1} << 32;

struct LabelHash {
    std::size_t operator()(const Label& l) const {
        const std::uint64_t mixed = (l.owner + (std::uint64_t{l.above} << 32 | l.step)) * 0x9e3779b97f4a7c15;
        return static_cast<std::size_t>(mixed ^ mixed >> 31);
    }
};

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

class HolderFinder {
public:
    HolderFinder(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
        : graph_(graph), heap_(graph.heap()), paths_(graph, with_names(std::move(wishes)), {}, {}, progress) {
        for (const TypeInfo& type : heap_.types()) {
            plain_.push_back(is_plain_container(type.name));
            module_.push_back(type.name == "module");
        }
        plain_.push_back(false);
        module_.push_back(false);
        label_all();
    }

    HoldersResult find(const std::vector<TypeId>& types, std::size_t limit, const ProgressCallback& progress) {
        HoldersResult result;
        std::vector<bool> wanted(heap_.types().size() + 1, types.empty());  // the last one: type not found
        for (const TypeId type : types) wanted[type] = true;
        std::map<std::pair<TypeId, std::uint32_t>, std::size_t> row_of;
        std::vector<std::int32_t> row_of_object(graph_.object_count(), -1);
        std::vector<ObjectSizes> sizes(1);
        const auto count_in = [&](ObjectId object) {
            const TypeId type = heap_.type_of(object);
            if (!wanted[known(type)]) return;
            sizes[0] = ObjectSizes();
            heap_.sizes(object, sizes);
            ++result.total_count;
            result.total_size += sizes[0].size;
            result.total_memory += sizes[0].memory;
            result.total_array_data += sizes[0].array_data;
            if (!paths_.found(object)) {
                ++result.without_path;
                return;
            }
            const auto [at, added] = row_of.emplace(std::pair(type, label_[object]), result.rows.size());
            if (added) {
                result.rows.push_back({});
                result.rows.back().type = type;
                result.rows.back().example = object;
                labels_of_rows_.push_back(label_[object]);
            }
            HolderRow& row = result.rows[at->second];
            row_of_object[object] = static_cast<std::int32_t>(at->second);
            ++row.count;
            row.size += sizes[0].size;
            row.memory += sizes[0].memory;
            row.array_data += sizes[0].array_data;
        };
        for (const ObjectId object : paths_.order()) count_in(object);
        for (ObjectId object = 0; object < graph_.object_count(); ++object)
            if (!paths_.found(object)) count_in(object);
        merge_same_words(result, row_of_object);
        result.total_rows = result.rows.size();
        retain(result, row_of_object, limit, progress);
        if (limit != 0 && result.rows.size() > limit) result.rows.resize(limit);
        for (HolderRow& row : result.rows) {
            row.expression = merged_expression(row.example);
            row.example_address = heap_.address_of(row.example);
        }
        return result;
    }

    std::vector<ObjectId> held_by(const std::string& holder) const {
        std::vector<char> fits(labels_.size());
        for (std::uint32_t label = 0; label < labels_.size(); ++label) {
            const auto [owner, attribute] = words(label);
            const bool bracket = attribute.starts_with("[") || attribute.starts_with(" ");
            fits[label] = holder == owner + (bracket ? "" : ".") + attribute;
        }
        std::vector<ObjectId> result;
        for (ObjectId object = 0; object < graph_.object_count(); ++object)
            if (label_[object] != none && fits[label_[object]]) result.push_back(object);
        return result;
    }

private:
    static PathWishes with_names(PathWishes wishes) {
        wishes.name_steps = true;
        return wishes;
    }

    void label_all() {
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

    bool is_frame(TypeId type) const { return type != no_type && heap_.types()[type].name == "frame"; }
    std::size_t known(TypeId type) const { return std::min<std::size_t>(type, heap_.types().size()); }

    std::uint64_t first_root_like(const HeapGraph::PlacedRoot& root) {
        const auto place = static_cast<std::uint64_t>(&root - graph_.roots().data());
        return first_like_.emplace(std::pair(root.root.kind, root.parent), place).first->second;
    }

    std::string step_text(std::uint32_t step) const {
        const StepName& name = paths_.step_names()[step];
        if (name.form == ReferenceForm::item) return "['*']";
        std::string text;
        heap_.visit_references_to(name.source, name.target, [&](const Reference& reference) {
            if (text.empty() && reference.followed) text = reference.name();
        });
        if (name.form == ReferenceForm::key) return " key '*'";
        if (name.form == ReferenceForm::index) return text.substr(0, text.rfind('[')) + "[*]";
        if (text.size() > 4 && text.starts_with("['") && text.ends_with("']")) return "." + text.substr(2, text.size() - 4);
        return text;
    }

    /// "func()" of a frame, "app" of a module.
    std::pair<std::string, std::string> root_text(const Root& root) const {
        const std::string expression = root_expression(graph_, root);
        if (root.frame >= 0) {
            const std::string function = graph_.frame({root.thread, root.frame}).name + "()";
            const bool local = !root.name.is_null();
            return {function,
                    local ? "." + heap_.python_heap().unicode_text(root.name, 200).value_or("?") : std::string(root.text)};
        }
        if (root.kind == RootKind::module) return {expression, ""};
        return {root_words_short(root), ""};
    }
    std::string root_words_short(const Root& root) const {
        if (root.kind == RootKind::native) return "native code";
        if (root.kind == RootKind::native_unseen) return "not found";
        if (root.kind == RootKind::static_type) return "static types";
        return root_words(graph_, root);
    }

    std::pair<std::string, std::string> words(std::uint32_t label) const {
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

    /// Equal names may have had several numbers: a name is an address before it is a word.
    void merge_same_words(HoldersResult& result, std::vector<std::int32_t>& row_of_object) const {
        std::map<std::tuple<TypeId, std::string, std::string>, std::size_t> by_words;
        std::vector<HolderRow> merged;
        std::vector<std::int32_t> becomes;
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
            HolderRow& row = result.rows[i];
            std::tie(row.holder, row.attribute) = words(labels_of_rows_[i]);
            const auto [at, added] = by_words.emplace(std::tuple(row.type, row.holder, row.attribute), merged.size());
            becomes.push_back(static_cast<std::int32_t>(at->second));
            if (added) {
                row.type_name = type_name(heap_, row.type);
                merged.push_back(std::move(row));
                continue;
            }
            HolderRow& into = merged[at->second];
            into.count += row.count;
            into.size += row.size;
            into.memory += row.memory;
            into.array_data += row.array_data;
        }
        for (std::int32_t& row : row_of_object)
            if (row >= 0) row = becomes[static_cast<std::size_t>(row)];
        result.rows = std::move(merged);
    }

    void retain(HoldersResult& result, const std::vector<std::int32_t>& row_of_object, std::size_t limit,
                const ProgressCallback& progress) {
        std::vector<std::size_t> order(result.rows.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return result.rows[a].memory > result.rows[b].memory; });
        constexpr std::size_t most_sets = 640;  // of more the rest is small
        const std::size_t asked =
            std::min({order.size(), most_sets, limit == 0 ? most_sets : std::max<std::size_t>(64, 2 * limit)});
        std::vector<std::int32_t> set_of_row(result.rows.size(), -1);
        for (std::size_t i = 0; i < asked; ++i) set_of_row[order[i]] = static_cast<std::int32_t>(i);
        const auto found = retained_by_sets(
            graph_, asked,
            [&](ObjectId object) {
                const std::int32_t row = row_of_object[object];
                return row < 0 ? -1 : set_of_row[static_cast<std::size_t>(row)];
            },
            progress);
        for (std::size_t i = 0; i < asked; ++i) result.rows[order[i]].retained = found[i].memory;
        std::stable_sort(result.rows.begin(), result.rows.end(), [](const HolderRow& a, const HolderRow& b) {
            return std::tuple(b.retained, b.memory, a.type_name, a.holder, a.attribute) <
                   std::tuple(a.retained, a.memory, b.type_name, b.holder, b.attribute);
        });
    }

    /// The path to `object` with [*] for indices and keys; equal steps one after another once, with an ellipsis.
    std::string merged_expression(ObjectId object) const {
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

    const HeapGraph& graph_;
    const HeapSnapshot& heap_;
    RootPaths paths_;
    std::vector<bool> plain_, module_;  // by type, the last one for those not found
    std::vector<Label> labels_;
    std::vector<std::uint32_t> label_;  // by object
    std::unordered_map<Label, std::uint32_t, LabelHash> numbers_;
    std::map<std::pair<RootKind, NodeId>, std::uint64_t> first_like_;
    std::vector<std::uint32_t> labels_of_rows_;
};

}  // namespace

std::vector<ObjectId> held_by(const HeapGraph& graph, const std::string& holder, const ProgressCallback& progress) {
    return HolderFinder(graph, {}, progress).held_by(holder);
}

HoldersResult holders(const HeapGraph& graph, const std::vector<TypeId>& types, const PathWishes& wishes, std::size_t limit,
                      const ProgressCallback& progress) {
    return HolderFinder(graph, wishes, progress).find(types, limit, progress);
}

}  // namespace heapsift
