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

/// A key without a literal, "[<ContextVar user>]", or a step without a name in Python, ".<cache>", can be
/// typed as it is printed if no other is printed the same.
bool is_only_one(const HeapGraph& graph, ObjectId source, const ReferenceStep& step) {
    if (!can_be_typed_if_single(step)) return false;
    if (step.kind == ReferenceStep::Kind::index)
        return true;  // numbered; a container of C code has a million
    std::size_t count = 0;
    graph.heap().visit_references(source, [&](const Reference& other) { count += other.step == step; });
    return count == 1;
}

/// True if the object itself has another reference with the name of an attribute in its __dict__: a class's
/// `__base__` differs from the descriptor of that name in the dict of `type`.
bool has_another(const HeapGraph& graph, ObjectId object, const ReferenceStep& attribute, ObjectId than) {
    bool found = false;
    const Address target = graph.columns().address_of(than);
    graph.heap().visit_references(object, [&](const Reference& other) {
        found = found || (other.step.kind == ReferenceStep::Kind::attribute &&
                          other.step.name == attribute.name && other.target != target);
    });
    return found;
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

/// True if its name consists of identifiers and dots, and no module before it has the same name.
bool can_be_typed(const LoadedModule& module) {
    std::string_view rest = module.name;
    while (true) {
        const std::size_t dot = rest.find('.');
        if (!is_identifier(rest.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return !module.shadowed;
        rest.remove_prefix(dot + 1);
    }
}

/// True for a slot of a frame that a person can name: a local.
bool is_local(const Root& root) { return root.frame >= 0 && !root.name.is_null(); }

}  // namespace

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
            return *root.text
                       ? std::string()
                       : fmt::format("threadlocal({:#x})", graph.columns().address_of(root.object).value);
        default:
            return {};
    }
}

PathExpression path_expression(const HeapGraph& graph, const Root& root, std::span<const ObjectId> objects,
                               std::span<const Reference> steps) {
    PathExpression result;
    const auto begin_at = [&](std::size_t object) {
        result.root = fmt::format("{:#x}", graph.columns().address_of(objects[object]).value);
        result.from_address = true;
        result.first = result.steps.size();
    };
    result.root = root_expression(graph, root);
    const bool named = !result.root.empty();
    // true after a __dict__: its items are attributes
    bool transparent = root.kind == RootKind::thread_local_;
    bool cell = false;  // a cell that stands for a local
    if (is_local(root)) {
        ReferenceStep local = attribute_step(text_of(graph, root.name));
        cell = root.cell && !steps.empty() && steps.front().step.is(Field::cell_contents);
        if (root.cell && !cell) {  // the cell itself is meant: the variable's name leads to its content
            local.kind = ReferenceStep::Kind::cell;
            local.nameless = true;
        }
        result.steps.push_back({std::move(local), 0});
    }
    if (!named) begin_at(0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const ReferenceStep& step = steps[i].step;
        const bool in_frame = named && i == 0 && root.kind == RootKind::frame && !is_local(root);
        const bool was_transparent = std::exchange(transparent, false), was_cell = std::exchange(cell, false);
        const bool named_cell = in_frame && step.kind == ReferenceStep::Kind::cell;
        if (named_cell && i + 1 < steps.size() && steps[i + 1].step.is(Field::cell_contents)) {
            result.steps.push_back({attribute_step(step.name), i + 1});
            cell = true;
            continue;
        }
        if (was_cell && step.is(Field::cell_contents)) {
            result.steps.back().leads_to = i + 1;
            if (result.first == result.steps.size()) begin_at(i + 1);
            continue;
        }
        const auto next = i + 1 < steps.size() ? as_attribute(steps[i + 1].step) : std::nullopt;
        if (step.is(Field::attributes) && next && !has_another(graph, objects[i], *next, objects[i + 2])) {
            transparent = true;
            continue;
        }
        const auto written = was_transparent ? as_attribute(step) : in_frame ? as_local(step) : std::nullopt;
        result.steps.push_back({written ? *written : step, i + 1});
        if (!written && !can_be_typed(step) && !is_only_one(graph, objects[i], step)) begin_at(i + 1);
    }
    return result;
}

std::string call_words(const PythonFrame& frame) {
    std::string text = frame.name + "()";
    if (!frame.file.empty()) text += fmt::format(", {}", base_name(frame.file));
    return text;
}

std::string frame_words(const PythonFrame& frame) {
    std::string text = call_words(frame);
    if (frame.line > 0) text += fmt::format(", now at line {}", frame.line);
    return text;
}

std::string thread_local_name(const HeapGraph& graph, const Root& root) {
    if (root.kind != RootKind::thread_local_ || root.of == no_object) return {};
    const HeapSnapshot& columns = graph.columns();
    const PythonHeap& python = graph.heap().python_heap();
    for (const LoadedModule& module : graph.root_set().modules()) {
        std::string name;
        python.visit_dict(module.dict, [&](Address key, Address value) {
            if (value == columns.address_of(root.of) && name.empty()) name = text_of(graph, key);
        });
        if (!name.empty()) return module.name + "." + name;
    }
    return columns.type_info(root.of).name;
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
        case RootKind::thread_local_: {
            const std::string name = thread_local_name(graph, root);
            return "thread-local data of " + thread_words() + (name.empty() ? name : ", of " + name);
        }
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
            if (*root.text) return root.text;
            break;
    }
    std::string text = "native code";
    graph.heap().visit_native_references([&](const Reference& reference) {
        if (reference.word == root.word) text = notation(reference.step);
    });
    if (root.thread >= 0) text += ", on the stack of " + thread_words();
    return text;
}

}  // namespace heapsift
