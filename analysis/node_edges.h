#pragma once

// A heap's graph for other programs: every node with all its edges, named, including those that are not
// followed.

#include "analysis/holding/heap_graph.h"
#include "analysis/root_names.h"

#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct NodeEdge {
    NodeId target{0};
    bool followed = true;  // HeapGraph::follows; false for weak references and those that are only reported
};

/// Refers to the graph: use it within one call.
class NodeEdgeFinder {
public:
    /// 4 bytes per root.
    explicit NodeEdgeFinder(const HeapGraph& graph);

    /// "thread MainThread", "func(), worker.py, now at line 41"; "(GC roots)" for the virtual root. `node`
    /// must not be an object. Not escaped.
    std::string name(NodeId node) const;

    /// Calls `visit` with each edge as a NodeEdge, and its name. An edge from the virtual root, a group or a
    /// frame is named after the group, frame or root it leads to. The order is always the same. Names are
    /// valid during the call. References to no object are left out; the followed edges are those of
    /// HeapGraph::targets, for the virtual root all groups.
    template <class F>
    void visit(NodeId node, F&& visit) {
        if (graph_.kind(node) == NodeKind::object)
            visit_references(graph_.object_of(node), visit);
        else
            for (const auto& [edge, name] : of_no_object(node)) visit(edge, name);
    }

private:
    template <class F>
    void visit_references(ObjectId source, F&& visit) const {
        graph_.heap().visit_references(source, [&](const Reference& reference) {
            const ObjectId target = graph_.columns().find(reference.target);
            if (target == no_object) return;
            visit(NodeEdge{graph_.node_of(target), reference.followed && graph_.follows(source, target)},
                  reference.step);
        });
    }
    std::vector<std::pair<NodeEdge, ReferenceStep>> of_no_object(NodeId node);

    const HeapGraph& graph_;
    RootNamer names_;
    std::vector<std::uint32_t> by_parent_;  // indices into HeapGraph::roots
};

}  // namespace heapsift
