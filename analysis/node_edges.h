#pragma once

// The graph of a heap as other programs are to see it: every node with every edge, named, those that are not
// followed too.

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

/// It refers to the graph: for the time of one call.
class NodeEdgeFinder {
public:
    /// 4 bytes a root.
    explicit NodeEdgeFinder(const HeapGraph& graph);

    /// "thread MainThread", "func(), worker.py, now at line 41"; of the virtual root "(GC roots)". Not of
    /// objects. Not escaped.
    std::string name(NodeId node) const;

    /// Calls with each edge as a NodeEdge, and what it is called: where the source is no object, a root, a
    /// group, a frame. In one order always. Names last as long as the call. References to no object are left out; the
    /// followed ones are those of HeapGraph::targets; of the virtual root, all groups.
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
    std::vector<std::uint32_t> by_parent_;  // numbers in HeapGraph::roots
};

}  // namespace heapsift
