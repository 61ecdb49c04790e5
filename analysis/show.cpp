// One object and both directions of its references.

#include "analysis/show.h"

#include "parsers/snapshot/reference_graph.h"

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

ShowResult show_object(const HeapSnapshot& heap, ObjectId object, std::size_t limit, const ProgressCallback& progress) {
    ShowResult result;
    result.object = object_row(heap, object);
    result.found_by = found_by_words(heap.found_by(object));
    const StructuralTargets structural(heap);
    heap.references(progress);
    result.referents = referents(heap, structural, object, limit);
    if (progress) progress("looking for referrers", 0);
    result.referrers = referrers(heap, structural, object, limit);
    return result;
}

}  // namespace heapsift
