#pragma once

// A path in Python's notation, so that it can be typed: app.CACHE['k'][3], func().selected[37].

#include "analysis/holding/heap_graph.h"
#include "analysis/steps.h"

#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// A step as it is printed: what stands between two steps that a person writes (`.__dict__`, a cell) is left
/// out.
struct PrintedStep {
    ReferenceStep name;
    std::size_t leads_to;  // the place in `objects` of what it leads to
};

struct PathExpression {
    std::string root;  // "app", "func()", "thread('worker').func()", "threadlocal(0x…)", "0x7f…". Not escaped
    std::vector<PrintedStep> steps;  // all of the path
    bool from_address = false;       // the root is an address
    // the expression is `root` and the steps from here on: before it is one that cannot be typed
    std::size_t first = 0;
};

/// How a root is written; empty where it has no name that can be typed.
std::string root_expression(const HeapGraph& graph, const Root& root);

/// `objects`: from the one at the root on, and `steps[i]` leads from objects[i] to objects[i + 1].
PathExpression path_expression(const HeapGraph& graph, const Root& root, std::span<const ObjectId> objects,
                               std::span<const Reference> steps);

/// "func(), worker.py, now at line 41": the base name of the file.
std::string frame_words(const PythonFrame& frame);
/// For people: "module app", "thread MainThread, func(), worker.py, now at line 41", "libfoo.so cache+0x10".
std::string root_words(const HeapGraph& graph, const Root& root);

}  // namespace heapsift
