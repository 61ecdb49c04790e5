#include "analysis/root_names.h"

#include "analysis/path_expression.h"

namespace heapsift {

RootNamer::RootNamer(const HeapGraph& graph) : graph_(graph), python_(graph.heap().python_heap()) {
    graph.heap().visit_native_references([&](const Reference& reference) {
        of_word_.emplace(reference.word.value, notation(reference.step));
    });
    for (const LoadedModule& module : graph.root_set().modules())
        modules_.emplace(module.object, module.name);
}

std::string RootNamer::name(const Root& root) {
    if (root.kind == RootKind::native && !*root.text) {
        const auto word = of_word_.find(root.word.value);
        return word != of_word_.end() ? word->second : "native code";
    }
    if (root.kind == RootKind::module)
        if (const auto module = modules_.find(root.object); module != modules_.end()) return module->second;
    if (root.kind == RootKind::frame && root.thread >= 0 && root.frame >= 0) {
        const FrameName& frame = frame_name(root);
        if (root.name.is_null()) return *root.text ? frame.text + " " + root.text : frame.text;
        return frame.text + (frame.typed ? "." : ", local ") +
               python_.unicode_text(root.name, 200).value_or("?");
    }
    const std::string expression = root_expression(graph_, root);
    return expression.empty() ? root_words(graph_, root) : expression;
}

const RootNamer::FrameName& RootNamer::frame_name(const Root& root) {
    const auto [known, is_new] = frames_.try_emplace({root.thread, root.frame});
    if (!is_new) return known->second;
    // Only the roots of a frame object and of a local have an expression: all roots of a frame have the same
    // one.
    Root frame = root;
    frame.name = Address();
    frame.text = "";
    FrameName& made = known->second;
    made.text = root_expression(graph_, frame);
    made.typed = !made.text.empty();
    if (!made.typed) made.text = root_words(graph_, frame);
    return made;
}

}  // namespace heapsift
