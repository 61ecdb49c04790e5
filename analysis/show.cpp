// One object and both directions of its references.

#include "analysis/show.h"

#include "analysis/object_states.h"

namespace heapsift {
namespace {

std::string found_by_words(FoundBy found_by) {
    switch (found_by) {
        case FoundBy::collector:
            return "in a list of the garbage collector";
        case FoundBy::pymalloc:
            return "an allocated block of Python's own allocator";
        case FoundBy::malloc:
            return "a block that malloc handed out";
        case FoundBy::static_data:
            return "in the data of a module, not allocated";
        case FoundBy::reference:
            return "another object refers to it";
    }
    return "";
}

}  // namespace

ShowResult show(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, std::size_t limit,
                const ProgressCallback& progress) {
    ShowResult result;
    const RetainedLookup retained(graph, sizes);
    const HeapReader& heap = graph.heap();
    result.object = object_row(heap, object);
    result.object.retained = retained.memory(object);
    result.object.state = object_states(graph, progress).of(object);
    result.retained_size = retained.size(graph.node_of(object));
    result.found_by = found_by_words(heap.snapshot().found_by(object));
    const NodeId dominator = retained.dominator(object);
    if (graph.kind(dominator) == NodeKind::object) {
        result.dominator = object_row(heap, graph.object_of(dominator));
        result.dominator->retained = retained.memory(dominator);
    }
    const GroupId group = retained.group(object);
    result.group = group == no_group ? "shared by several groups" : graph.groups()[group].name;
    result.referents = referents(heap, graph.structural(), object, limit);
    if (progress) progress("looking for referrers", 0);
    result.referrers = referrers(heap, graph.structural(), object, limit);
    return result;
}

}  // namespace heapsift
