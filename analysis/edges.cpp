// An object may have millions of referrers. All are counted; of those that hold it, and of those that do not,
// only as many are kept as will be shown. Where all will be, none is kept: they are read again, one by one.

#include "analysis/edges.h"

#include "parsers/snapshot/reference_graph.h"

namespace heapsift {
namespace {

class Collector {
public:
    Collector(EdgeList& list, std::size_t limit) : list_(list), limit_(limit) {}

    template <class F>
    void add(const Reference& reference, bool followed, F&& row) {
        ++list_.total;
        list_.followed += followed ? 1 : 0;
        if (reference.followed) {
            ++list_.owned;
            list_.guesses = list_.guesses || reference.kind == ReferenceKind::guess;
        }
        if (limit_ == no_edges) return;
        std::vector<EdgeRow>& part = followed ? list_.edges : others_;
        if (limit_ == 0 || part.size() < limit_) part.push_back(row());
    }
    void finish() {
        for (EdgeRow& row : others_)
            if (limit_ == 0 || list_.edges.size() < limit_) list_.edges.push_back(std::move(row));
    }

private:
    EdgeList& list_;
    std::size_t limit_;
    std::vector<EdgeRow> others_;
};

/// For a native reference the row has only the address of the word.
ObjectRow source_row(const HeapReader& heap, ObjectId source, const Reference& reference) {
    if (source != no_object) return brief_object_row(heap, source);
    ObjectRow row;
    row.address = reference.word;
    return row;
}

ObjectRow target_row(const HeapReader& heap, Address target) {
    if (const ObjectId id = heap.snapshot().find(target); id != no_object) return brief_object_row(heap, id);
    ObjectRow row;
    row.address = target;
    return row;
}

/// visit(reference, followed, row); `row` makes the row.
template <class F>
void each_referent(const HeapReader& heap, const StructuralTargets& structural, ObjectId object, F&& visit) {
    const ObjectRow self = brief_object_row(heap, object);
    heap.visit_references(object, [&](const Reference& reference) {
        const bool followed = structural.follows(self.address, reference) &&
                              heap.snapshot().find(reference.target) != no_object;
        visit(reference, followed, [&] {
            return EdgeRow{self, target_row(heap, reference.target), reference, followed};
        });
    });
}

template <class F>
void each_referrer(const HeapReader& heap, const StructuralTargets& structural, ObjectId object, F&& visit) {
    const ObjectRow self = brief_object_row(heap, object);
    heap.visit_referrers(object, [&](ObjectId source, const Reference& reference) {
        const bool followed = structural.follows(
            source == no_object ? Address() : heap.snapshot().address_of(source), reference);
        visit(reference, followed, [&] {
            return EdgeRow{source_row(heap, source, reference), self, reference, followed};
        });
    });
}

/// each(visit) hands out all edges in their own order.
template <class Each>
EdgeList collected(std::size_t limit, Each&& each) {
    EdgeList list;
    Collector collector(list, limit);
    each([&](const Reference& reference, bool followed, auto&& row) {
        collector.add(reference, followed, row);
    });
    collector.finish();
    return list;
}

template <class Each>
void in_order(const EdgeList& list, const EdgeVisitor& visit, Each&& each) {
    for (const bool wanted : {true, false}) {
        if ((wanted ? list.followed : list.total - list.followed) == 0) continue;
        each([&](const Reference&, bool followed, auto&& row) {
            if (followed == wanted) visit(row());
        });
    }
}

}  // namespace

EdgeList referents(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit) {
    return collected(limit, [&](auto&& visit) { each_referent(heap, structural, object, visit); });
}

EdgeList referrers(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit) {
    return collected(limit, [&](auto&& visit) { each_referrer(heap, structural, object, visit); });
}

void visit_referents(const HeapReader& heap, ObjectId object, const EdgeList& list,
                     const EdgeVisitor& visit) {
    const StructuralTargets structural = structural_targets(heap.snapshot());
    in_order(list, visit, [&](auto&& edge) { each_referent(heap, structural, object, edge); });
}

void visit_referrers(const HeapReader& heap, ObjectId object, const EdgeList& list,
                     const EdgeVisitor& visit) {
    const StructuralTargets structural = structural_targets(heap.snapshot());
    in_order(list, visit, [&](auto&& edge) { each_referrer(heap, structural, object, edge); });
}

EdgesResult referents(const HeapReader& heap, ObjectId object, std::size_t limit) {
    return {object_row(heap, object), referents(heap, structural_targets(heap.snapshot()), object, limit)};
}

EdgesResult referrers(const HeapReader& heap, ObjectId object, std::size_t limit,
                      const ProgressCallback& progress) {
    if (progress) progress("looking for referrers", 0);
    return {object_row(heap, object), referrers(heap, structural_targets(heap.snapshot()), object, limit)};
}

}  // namespace heapsift
