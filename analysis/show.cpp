// One object and both directions of its references. Referrers cost one pass over the heap; all of them are counted, so that the
// reference count can be accounted for, and only the first `limit` are kept.

#include "analysis/show.h"

#include "analysis/structural_references.h"
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

EdgeRow edge_row(const StructuralTargets& structural, ObjectRow source, ObjectRow target, const Reference& reference) {
    const bool followed = structural.follows(reference) && target.id != no_object;
    return {std::move(source), std::move(target), reference, followed};
}

/// A native reference comes from no object: then the row has the address of the word alone.
ObjectRow source_row(const HeapSnapshot& heap, ObjectId source, const Reference& reference) {
    if (source != no_object) return brief_object_row(heap, source);
    ObjectRow row;
    row.address = reference.word;
    return row;
}

void add_referents(const HeapSnapshot& heap, const StructuralTargets& structural, ShowResult& result, const ObjectRow& self, std::size_t limit) {
    heap.visit_references(self.id, [&](const Reference& reference) {
        if (limit == 0 || result.total_referents < limit) {
            const ObjectId target = heap.find(reference.target);
            ObjectRow row;
            row.address = reference.target;
            if (target != no_object) row = brief_object_row(heap, target);
            result.referents.push_back(edge_row(structural, self, std::move(row), reference));
        }
        ++result.total_referents;
    });
}

void add_referrers(const HeapSnapshot& heap, const StructuralTargets& structural, ShowResult& result, const ObjectRow& self, std::size_t limit) {
    heap.visit_referrers(self.id, [&](ObjectId referrer, const Reference& reference) {
        if (reference.followed) ++result.accounted;
        if (reference.followed && reference.kind == ReferenceKind::guess) result.guesses_among_referrers = true;
        if (limit == 0 || result.total_referrers < limit)
            result.referrers.push_back(edge_row(structural, source_row(heap, referrer, reference), self, reference));
        ++result.total_referrers;
    });
}

}  // namespace

ShowResult show_object(const HeapSnapshot& heap, ObjectId object, std::size_t limit, const ProgressCallback& progress) {
    ShowResult result;
    result.object = object_row(heap, object);
    result.found_by = found_by_words(heap.found_by(object));
    const ObjectRow self = brief_object_row(heap, object);
    const StructuralTargets structural(heap);
    heap.references(progress);
    add_referents(heap, structural, result, self, limit);
    if (progress) progress("looking for referrers", 0);
    add_referrers(heap, structural, result, self, limit);
    return result;
}

}  // namespace heapsift
