#pragma once

// The modules of a program as nodes of its graph. A module, its dict and its name are one row to a person:
// whoever shows nodes asks which those are.

#include "analysis/holding/heap_graph.h"

#include <vector>

namespace heapsift {

/// Two bits per node: it is asked for every child that is shown.
class ModuleNodes {
public:
    explicit ModuleNodes(const HeapGraph& graph);

    bool is_module(NodeId node) const { return modules_[node]; }
    /// Is it the dict of a module?
    bool is_dict(NodeId node) const { return dicts_[node]; }

private:
    std::vector<bool> modules_, dicts_;  // by node
};

/// Is it the group of one of the program's own modules?
bool is_module_group(const HeapGraph& graph, NodeId node);
/// Is it that of a package, of Python itself, or of a library of C code?
bool is_library_group(const HeapGraph& graph, NodeId node);

}  // namespace heapsift
