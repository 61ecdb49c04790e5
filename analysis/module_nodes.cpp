#include "analysis/module_nodes.h"

namespace heapsift {

ModuleNodes::ModuleNodes(const HeapGraph& graph) {
    for (const LoadedModule& module : graph.root_set().modules()) {
        modules_.insert(HeapGraph::node_of(module.object));
        const ObjectId dict = module.dict.is_null() ? no_object : graph.columns().find(module.dict);
        if (dict != no_object) dicts_.insert(HeapGraph::node_of(dict));
    }
}

bool is_module_group(const HeapGraph& graph, NodeId node) {
    return graph.kind(node) == NodeKind::group &&
           graph.groups()[graph.group_of(node)].kind == GroupKind::module;
}

}  // namespace heapsift
