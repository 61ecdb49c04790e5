#include "analysis/module_nodes.h"

namespace heapsift {

ModuleNodes::ModuleNodes(const HeapGraph& graph) : modules_(graph.node_count()), dicts_(graph.node_count()) {
    for (const LoadedModule& module : graph.root_set().modules()) {
        if (module.object != no_object) modules_[HeapGraph::node_of(module.object)] = true;
        const ObjectId dict = module.dict.is_null() ? no_object : graph.columns().find(module.dict);
        if (dict != no_object) dicts_[HeapGraph::node_of(dict)] = true;
    }
}

bool is_module_group(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::module;
}

bool is_library_group(const HeapGraph& graph, NodeId node) {
    if (graph.kind(node) != NodeKind::group) return false;
    const GroupKind kind = graph.groups()[graph.group_of(node)].kind;
    return kind == GroupKind::package || kind == GroupKind::python || kind == GroupKind::native;
}

}  // namespace heapsift
