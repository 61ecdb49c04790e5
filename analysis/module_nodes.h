#pragma once

// The modules of a program as nodes of its graph. A module, its dict and its name are one row to a person:
// whoever shows nodes asks which those are.

#include "analysis/holding/heap_graph.h"

#include <unordered_set>

namespace heapsift {

/// 16 bytes for each module of sys.modules, some hundreds.
class ModuleNodes {
public:
    explicit ModuleNodes(const HeapGraph& graph);

    bool is_module(NodeId node) const { return modules_.contains(node); }
    /// Is it the dict of a module?
    bool is_dict(NodeId node) const { return dicts_.contains(node); }

private:
    std::unordered_set<NodeId> modules_, dicts_;
};

/// Is it the group of one of the program's own modules?
bool is_module_group(const HeapGraph& graph, NodeId node);

}  // namespace heapsift
