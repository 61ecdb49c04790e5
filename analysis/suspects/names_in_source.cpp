// From the path that leads to a holder to the names that stand in the source: of the steps of the path the last one that
// the program's own code has a name for.

#include "analysis/suspects/names_in_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t longest_name = 200, most_calls = 16;
constexpr std::string_view inner_functions = "<locals>.";  // in their qualified names

/// A path to a holder, written; of another than the first of several only the words are known.
struct WrittenPath {
    const PathExpression& expression;
    const std::vector<ObjectId>* objects;  // null: not known

    /// From which the step `at` leads, and to which; `no_object` if that is not known.
    ObjectId before(std::size_t at) const { return object(at == 0 ? 0 : expression.steps[at - 1].leads_to); }
    ObjectId behind(std::size_t at) const { return object(expression.steps[at].leads_to); }

private:
    ObjectId object(std::size_t at) const {
        return objects && at < objects->size() ? (*objects)[at] : no_object;
    }
};

class NamesInSource {
public:
    explicit NamesInSource(const Scene& scene) : scene_(scene) {}

    std::vector<NameInSource> find() {
        const TopHolder& holder = scene_.holder();
        if (!holder.local.empty()) {
            add_locals(holder);
            const SourcePlace place = place_of_code(scene_.python(), holder.code);
            if (place.known())
                add({.kind = NameInSource::Kind::variable,
                     .text = holder.local,
                     .file = place.file,
                     .within = fmt::format("{}.{}", place.function, inner_functions)});
        } else if (!holder.joint) {
            add_nearest({holder.expression, &holder.path});
        } else {
            for (std::size_t i = 0; i < holder.joint->expressions.size(); ++i)
                add_nearest({holder.joint->expressions[i], i == 0 ? &holder.path : nullptr});
        }
        return std::move(names_);
    }

private:
    void add(NameInSource name) {
        if (!name.text.empty()) names_.push_back(std::move(name));
    }

    void add_nearest(const WrittenPath& path) {
        std::string key;
        bool in_library = false, within = false;
        for (std::size_t at = path.expression.steps.size(); at-- > 0;) {
            const ReferenceStep& step = path.expression.steps[at].name;
            if (step.kind == ReferenceStep::Kind::item && !in_library && key.empty() && step.key &&
                !step.key->cut)
                key = step.name;  // none of anything but a str
            std::optional<NameInSource> variable = free_variable(path, at);
            if (!variable) variable = local(path, at, within);
            if (variable) {  // after who asks a library's object for what hangs on it
                if (in_library) add({.kind = NameInSource::Kind::key, .text = key});
                variable->only_else = in_library && !key.empty();
                return add(std::move(*variable));
            }
            within =
                within || step.kind == ReferenceStep::Kind::item || step.kind == ReferenceStep::Kind::index;
            if (step.kind != ReferenceStep::Kind::attribute || step.nameless) continue;
            if (at == 0 && is_root_module_of_program(path)) {
                if (in_library) add({.kind = NameInSource::Kind::key, .text = key});
                return add_global(step.name, path.behind(0), in_library && !key.empty(), within);
            }
            const ObjectId owner = path.before(at);
            if (owner == no_object || (at == 0 && !scene_.holder().frame.empty())) continue;
            const HeapSnapshot& columns = scene_.heap().snapshot();
            const TypeId as_class = columns.types.find(columns.address_of(owner));
            const TypeId type = as_class == no_type ? columns.type_of(owner) : as_class;
            if (const auto found = scene_.class_in_source(type))
                return add({.text = step.name,
                            .of_class = found->name,
                            .of_file = found->file,
                            .of_classes = as_class == no_type ? scene_.classes_in_source(type)
                                                              : std::vector<ClassInSource>(),
                            .filled_within = within});
            in_library = true;
        }
        add({.kind = NameInSource::Kind::key, .text = key});
    }

    bool is_root_module_of_program(const WrittenPath& path) const {
        return scene_.holder().frame.empty() && (scene_.is_module_of_program(path.expression.root) ||
                                                 !scene_.holder().thread_local_name.empty());
    }

    /// A global, by the names that the program's modules have for the object: imported by another, as another.
    void add_global(const std::string& name, ObjectId object, bool only_else, bool within) {
        add({.text = name, .only_else = only_else, .filled_within = within});
        if (object == no_object || !scene_.holder().thread_local_name.empty()) return;
        constexpr std::size_t most_names = 16;
        const Address at = scene_.heap().snapshot().address_of(object);
        for (const LoadedModule& module : scene_.heap().snapshot().roots->modules()) {
            if (module.dict.is_null() || !scene_.is_module_of_program(module.name)) continue;
            scene_.python().visit_dict(module.dict, [&](Address key, Address value) {
                if (value != at) return;
                const std::string known = scene_.python().unicode_text(key, longest_name).value_or("");
                const auto same = [&](const NameInSource& one) { return one.text == known; };
                if (std::none_of(names_.begin(), names_.end(), same) && names_.size() < most_names)
                    add({.text = known, .only_else = only_else, .filled_within = within});
                const auto one = std::find_if(names_.begin(), names_.end(), same);
                if (one == names_.end() || one->kind != NameInSource::Kind::name) return;
                one->files.push_back(module.file);
                one->modules.push_back(module.name.substr(module.name.rfind('.') + 1));
            });
        }
    }

    /// Of a function: the variable whose cell the step leads out of.
    std::optional<NameInSource> free_variable(const WrittenPath& path, std::size_t at) const {
        if (!path.expression.steps[at].name.is(Field::cell_contents) || at < 2) return std::nullopt;
        const ObjectId cell = path.before(at),
                       function = path.before(at - 2);  // .__closure__[0].cell_contents
        const HeapSnapshot& columns = scene_.heap().snapshot();
        if (!scene_.is(cell, KnownType::cell) || !scene_.is(function, KnownType::function))
            return std::nullopt;
        const std::string name =
            name_of_cell(scene_.python(), columns.address_of(function), columns.address_of(cell));
        const SourcePlace place = place_of_function(scene_.python(), columns.address_of(function));
        const auto inner = place.function.rfind(inner_functions);
        // Up to 3.10 a function has the name of another that functools.wraps gave it, and its code has no other.
        const bool qualified = scene_.python().layout().code.co_qualname.present();
        if (name.empty() || (qualified && inner == std::string::npos)) return std::nullopt;
        return NameInSource{.kind = NameInSource::Kind::variable,
                            .text = name,
                            .file = place.file,
                            .within = inner == std::string::npos
                                          ? std::string()
                                          : place.function.substr(0, inner + inner_functions.size())};
    }

    /// Of the call that it hangs on, and of those that have the same object: who called it, and made it.
    void add_locals(const TopHolder& holder) {
        add({.kind = NameInSource::Kind::local, .text = holder.local, .code = holder.code});
        if (!holder.object) return;
        for (const HeapGraph::PlacedRoot& placed : scene_.graph().roots_of(holder.object->id)) {
            const Root& root = placed.root;
            if (root.frame < 0 || root.name.is_null() || names_.size() == most_calls) continue;
            NameInSource name{.kind = NameInSource::Kind::local,
                              .text = scene_.python().unicode_text(root.name, longest_name).value_or(""),
                              .code = scene_.graph().frame({root.thread, root.frame}).code};
            const auto is_same = [&](const NameInSource& one) {
                return one.code == name.code && one.text == name.text;
            };
            if (std::none_of(names_.begin(), names_.end(), is_same)) add(std::move(name));
        }
    }

    /// Of a call that runs, or of a generator or coroutine that waits.
    std::optional<NameInSource> local(const WrittenPath& path, std::size_t at, bool within) const {
        const ReferenceStep& step = path.expression.steps[at].name;
        const TopHolder& holder = scene_.holder();
        Address code;
        if (at == 0 && !path.expression.from_address && path.expression.first == 0 && !holder.frame.empty())
            code = holder.code;
        const ObjectId owner = path.before(at);
        if (code.is_null() && owner != no_object &&
            (step.kind == ReferenceStep::Kind::local || step.kind == ReferenceStep::Kind::cell))
            code = code_of_suspended(scene_.heap(), owner);
        if (code.is_null() || step.nameless) return std::nullopt;
        return NameInSource{
            .kind = NameInSource::Kind::local, .text = step.name, .filled_within = within, .code = code};
    }

    const Scene& scene_;
    std::vector<NameInSource> names_;
};

}  // namespace

std::vector<NameInSource> names_in_source(const Scene& scene) { return NamesInSource(scene).find(); }

}  // namespace heapsift
