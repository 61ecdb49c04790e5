#include "analysis/path_expression.h"

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

std::string text_of(const HeapGraph& graph, Address str) {
    return graph.heap().python_heap().unicode_text(str, 200).value_or("?");
}

bool is_constant(std::string_view text) {
    return text == "None" || text == "True" || text == "False" || text == "Ellipsis";
}

bool can_be_typed(const Reference& reference) {
    if (reference.before.starts_with("key ") || reference.before.starts_with("<")) return false;
    if (reference.before.starts_with(".<") ||
        (reference.key && reference.key->text.find("nan") != std::string::npos))
        return false;
    if (!reference.key) return reference.before.find("…") == std::string::npos;
    const ShortValue& key = *reference.key;
    if (key.text.find("…") != std::string::npos) return false;
    return key.kind == ShortValue::Kind::literal || is_constant(key.text);
}

/// A key that has no literal, "[<ContextVar user>]", and what has no name in Python, ".<cache>", can be typed
/// as they are printed if no other is printed like it.
bool is_only_one(const HeapGraph& graph, ObjectId source, const Reference& reference) {
    const bool item =
        reference.key && reference.before == "[" && reference.key->text.find("…") == std::string::npos;
    if (!item && !reference.before.starts_with(".<")) return false;
    const std::string name = reference.name();
    std::size_t count = 0;
    graph.heap().visit_references(source, [&](const Reference& other) { count += other.name() == name; });
    return count == 1;
}

/// ".gi_frame.f_locals['x']", of a frame that runs ".f_locals['x']": the local's name.
std::string local_of(const Reference& reference) {
    constexpr std::string_view before = ".f_locals['", after = "']";
    const std::string_view text = reference.before;
    if (reference.key || !text.starts_with(before) || !text.ends_with(after)) return {};
    const std::string_view name = text.substr(before.size(), text.size() - before.size() - after.size());
    return is_identifier(name) ? "." + std::string(name) : std::string();
}

/// Does the object itself call something else by the name of an attribute in its __dict__? A class's
/// `__base__` is one thing, and the descriptor of that name in the dict of `type` another.
bool has_another(const HeapGraph& graph, ObjectId object, const std::string& attribute, ObjectId than) {
    bool found = false;
    const Address target = graph.heap().address_of(than);
    graph.heap().visit_references(object, [&](const Reference& other) {
        found = found || (!other.key && other.before == attribute && other.target != target);
    });
    return found;
}

Reference step(std::string text) {
    Reference made;
    made.before = std::move(text);
    return made;
}

std::string quoted_name(std::string_view name) {
    std::string text = "'";
    for (const char c : name) {
        if (c == '\'' || c == '\\') text += '\\';
        text += c;
    }
    return text + "'";
}

std::string frame_expression(const HeapGraph& graph, const Root& root) {
    const auto& threads = graph.root_set().threads();
    const PythonThread& own = threads[static_cast<std::size_t>(root.thread)];
    const std::string& name = own.frames[static_cast<std::size_t>(root.frame)].name;
    std::size_t everywhere = 0, here = 0, threads_of_name = 0;
    for (const PythonThread& thread : threads) {
        const auto count =
            static_cast<std::size_t>(std::count_if(thread.frames.begin(), thread.frames.end(),
                                                   [&](const PythonFrame& f) { return f.name == name; }));
        everywhere += count;
        if (&thread == &own) here = count;
        threads_of_name += thread.name == own.name;
    }
    if (name == "<module>" || name == "?") return {};
    if (everywhere == 1) return name + "()";
    if (here == 1 && threads_of_name == 1 && !own.name.empty())
        return "thread(" + quoted_name(own.name) + ")." + name + "()";
    if (here == 1 && own.tid) return fmt::format("thread({}).{}()", *own.tid, name);
    return {};
}

/// ", of app.LOCAL": the threading.local, where a module's variable is one.
std::string of_which_local(const HeapGraph& graph, const Root& root) {
    if (root.of == no_object) return {};
    const HeapSnapshot& heap = graph.heap();
    const PythonHeap& python = heap.python_heap();
    for (const LoadedModule& module : graph.root_set().modules()) {
        std::string name;
        python.visit_dict(module.dict, [&](Address key, Address value) {
            if (value == heap.address_of(root.of) && name.empty()) name = text_of(graph, key);
        });
        if (!name.empty()) return ", of " + module.name + "." + name;
    }
    return fmt::format(", of {} {:#x}", heap.types()[heap.type_of(root.of)].name,
                       heap.address_of(root.of).value);
}

/// Dotted identifiers, and no other module of that name before it.
bool can_be_typed(const LoadedModule& module) {
    std::string_view rest = module.name;
    while (true) {
        const std::size_t dot = rest.find('.');
        if (!is_identifier(rest.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return !module.shadowed;
        rest.remove_prefix(dot + 1);
    }
}

/// A slot of a frame that a person can name: a local.
bool is_local(const Root& root) { return root.frame >= 0 && !root.name.is_null(); }

}  // namespace

std::string as_attribute(const Reference& item) {
    if (item.before != "[" || !item.key || item.key->kind != ShortValue::Kind::literal) return {};
    const std::string_view text = item.key->text;
    if (text.size() < 3 || text.front() != '\'' || text.back() != '\'') return {};
    const std::string_view name = text.substr(1, text.size() - 2);
    return is_identifier(name) ? "." + std::string(name) : std::string();
}

std::string root_expression(const HeapGraph& graph, const Root& root) {
    switch (root.kind) {
        case RootKind::module:
            for (const LoadedModule& module : graph.root_set().modules())
                if (module.object == root.object) return can_be_typed(module) ? module.name : std::string();
            return {};
        case RootKind::frame: {
            const bool frame_object = root.name.is_null() && !*root.text;
            return is_local(root) || frame_object ? frame_expression(graph, root) : std::string();
        }
        case RootKind::thread_local_:
            return *root.text ? std::string()
                              : fmt::format("threadlocal({:#x})", graph.heap().address_of(root.object).value);
        default:
            return {};
    }
}

PathExpression path_expression(const HeapGraph& graph, const Root& root, std::span<const ObjectId> objects,
                               std::span<const Reference> steps) {
    PathExpression result;
    const auto begin_at = [&](std::size_t object) {
        result.root = fmt::format("{:#x}", graph.heap().address_of(objects[object]).value);
        result.first = result.steps.size();
    };
    result.root = root_expression(graph, root);
    const bool named = !result.root.empty();
    // what was reached is a __dict__: its items are attributes
    bool transparent = root.kind == RootKind::thread_local_;
    bool cell = false;  // a cell that stands for a local
    if (is_local(root)) {
        result.steps.push_back({step("." + text_of(graph, root.name)), 0});
        cell = root.cell;
    }
    if (!named) begin_at(0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Reference& reference = steps[i];
        const bool in_frame = named && i == 0 && root.kind == RootKind::frame && !is_local(root);
        const bool was_transparent = std::exchange(transparent, false), was_cell = std::exchange(cell, false);
        const bool named_cell =
            in_frame && reference.before.starts_with(".<cell ") && reference.before.ends_with(">");
        if (named_cell && i + 1 < steps.size() && steps[i + 1].before == ".cell_contents") {
            result.steps.push_back(
                {step("." + reference.before.substr(7, reference.before.size() - 8)), i + 1});
            cell = true;
            continue;
        }
        if (was_cell && reference.before == ".cell_contents") {
            result.steps.back().leads_to = i + 1;
            if (result.first == result.steps.size()) begin_at(i + 1);
            continue;
        }
        if (reference.before == ".__dict__" && !reference.key && i + 1 < steps.size() &&
            !as_attribute(steps[i + 1]).empty() &&
            !has_another(graph, objects[i], as_attribute(steps[i + 1]), objects[i + 2])) {
            transparent = true;
            continue;
        }
        if (const std::string attribute = was_transparent ? as_attribute(reference) : std::string();
            !attribute.empty()) {
            result.steps.push_back({step(attribute), i + 1});
        } else if (const std::string local = in_frame ? local_of(reference) : std::string(); !local.empty()) {
            result.steps.push_back({step(local), i + 1});
        } else {
            result.steps.push_back({reference, i + 1});
            if (!can_be_typed(reference) && !is_only_one(graph, objects[i], reference)) begin_at(i + 1);
        }
    }
    return result;
}

std::string frame_words(const PythonFrame& frame) {
    std::string text = frame.name + "()";
    if (!frame.file.empty()) text += fmt::format(", {}", base_name(frame.file));
    if (frame.line > 0) text += fmt::format(", now at line {}", frame.line);
    return text;
}

std::string root_words(const HeapGraph& graph, const Root& root) {
    const auto thread_words = [&] {
        const PythonThread& thread = graph.root_set().threads()[static_cast<std::size_t>(root.thread)];
        return "thread " + (thread.name.empty() ? std::to_string(thread.tid.value_or(0)) : thread.name);
    };
    switch (root.kind) {
        case RootKind::module:
            for (const LoadedModule& module : graph.root_set().modules())
                if (module.object == root.object)
                    return "module " + module.name + (module.shadowed ? " of another interpreter" : "");
            return "a module";
        case RootKind::frame:
            if (root.thread < 0) break;
            return thread_words() + ", " + frame_words(graph.frame({root.thread, root.frame}));
        case RootKind::thread_local_:
            return "thread-local data of " + thread_words() + of_which_local(graph, root);
        case RootKind::context:
            return "context of " + thread_words();
        case RootKind::thread:
            return "the state of " + thread_words();
        case RootKind::interpreter:
            return *root.text ? root.text : "the interpreter's own state";
        case RootKind::static_type:
            return "a type that is part of the program";
        case RootKind::immortal:
            return "immortal: never freed, and nothing refers to it";
        case RootKind::native_unseen:
            return "a reference that it counts and that was not found: native code, or a leak";
        case RootKind::native:
            break;
    }
    std::string text = "native code";
    graph.heap().visit_native_references([&](const Reference& reference) {
        if (reference.word == root.word) text = reference.name();
    });
    if (root.thread >= 0) text += ", on the stack of " + thread_words();
    return text;
}

}  // namespace heapsift
