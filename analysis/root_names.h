#pragma once

// The names of many roots.

#include "analysis/holding/heap_graph.h"
#include "parsers/cpython/python_heap.h"

#include <map>
#include <string>
#include <unordered_map>

namespace heapsift {

/// Names roots one by one, and words what they have in common only once. Refers to the graph: use it within
/// one call.
class RootNamer {
public:
    explicit RootNamer(const HeapGraph& graph);

    /// "app", "func().selected", "threadlocal(0x…)"; for a root that cannot be typed, words for people
    /// (root_words). Not escaped.
    std::string name(const Root& root);

private:
    struct FrameName {
        std::string text;  // "func()", or words for people
        bool typed;        // it is an expression
    };
    const FrameName& frame_name(const Root& root);

    const HeapGraph& graph_;
    const PythonHeap& python_;
    std::unordered_map<std::uint64_t, std::string> of_word_;  // words of C code
    std::map<std::pair<std::int32_t, std::int32_t>, FrameName> frames_;
    std::unordered_map<ObjectId, std::string> modules_;
};

}  // namespace heapsift
