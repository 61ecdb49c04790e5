#pragma once

// A path in Python notation, so that it can be typed: app.CACHE['k'][3], func().selected[37].

#include "analysis/holding/heap_graph.h"
#include "analysis/steps.h"

#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// A step as it is printed. What only stands between two steps that a person writes (`.__dict__`, a cell) is
/// left out.
struct PrintedStep {
    ReferenceStep name;
    std::size_t leads_to;  // the index in `objects` of its target
};

struct PathExpression {
    std::string root;  // "app", "func()", "thread('worker').func()", "threadlocal(0x…)", "0x7f…". Not escaped
    std::vector<PrintedStep> steps;  // all of the path
    bool from_address = false;       // the root is an address
    // the expression is `root` and the steps from here on; the step before cannot be typed
    std::size_t first = 0;
};

/// How a root is written; empty if it has no name that can be typed.
std::string root_expression(const HeapGraph& graph, const Root& root);

/// `objects` begins with the one at the root; `steps[i]` leads from objects[i] to objects[i + 1].
PathExpression path_expression(const HeapGraph& graph, const Root& root, std::span<const ObjectId> objects,
                               std::span<const Reference> steps);

/// "func(), worker.py"; the file's base name.
std::string call_words(const PythonFrame& frame);
/// "func(), worker.py, now at line 41".
std::string frame_words(const PythonFrame& frame);
/// For people: "module app", "thread MainThread, func(), worker.py, now at line 41", "libfoo.so cache+0x10".
std::string root_words(const HeapGraph& graph, const Root& root);
/// Of thread-local data, the threading.local: "app.local", or its type; "" of the dict of all of them.
std::string thread_local_name(const HeapGraph& graph, const Root& root);

}  // namespace heapsift
