// An object may have millions of referrers. All are counted; of those that hold it, and of those that do not,
// only as many are kept as will be shown. Where all will be, none is kept: they are read again, one by one.

#include "analysis/edges.h"

#include "parsers/snapshot/reference_graph.h"

#include <algorithm>

namespace heapsift {
namespace {

class Collector {
public:
    Collector(EdgeList& list, std::size_t limit) : list_(list), limit_(limit) {}
    /// For a list whose edges are counted already.
    static Collector of_counted(EdgeList& list, std::size_t limit) {
        Collector collector(list, limit);
        collector.counted_ = true;
        return collector;
    }

    template <class F>
    void add(const Reference& reference, bool followed, F&& row) {
        if (!counted_) count(reference, followed);
        if (limit_ == no_edges) return;
        std::vector<EdgeRow>& part = followed ? list_.edges : others_;
        if (limit_ == 0 || part.size() < limit_) part.push_back(row());
    }
    /// True if no further edge will be shown; for a counted list with a limit.
    bool has_all() const {
        const auto shown = std::min<std::uint64_t>(limit_, list_.total),
                   first = std::min<std::uint64_t>(shown, list_.followed);
        return list_.edges.size() >= first && others_.size() >= shown - first;
    }
    void finish() {
        for (EdgeRow& row : others_)
            if (limit_ == 0 || list_.edges.size() < limit_) list_.edges.push_back(std::move(row));
    }

private:
    void count(const Reference& reference, bool followed) {
        ++list_.total;
        list_.followed += followed ? 1 : 0;
        if (!reference.followed) return;
        ++list_.owned;
        list_.guesses = list_.guesses || reference.kind == ReferenceKind::guess;
    }

    EdgeList& list_;
    std::size_t limit_;
    bool counted_ = false;
    std::vector<EdgeRow> others_;
};

/// To count so many edges takes a millisecond.
constexpr std::uint64_t worth_keeping = 20'000;

/// How many edges a list has, as it is kept.
struct KeptCounts {
    std::uint64_t total = 0, followed = 0;
    std::int64_t owned = 0;
    bool guesses = false;

    std::size_t rows() const { return total >= worth_keeping ? 1 : KeptAnswers::most_rows + 1; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader&) {
        part.number(self.total);
        part.number(self.followed);
        part.number(self.owned);
        part.number(self.guesses);
        part.require(self.followed <= self.total && self.owned >= 0, "there are more edges than edges");
    }
};

/// Ends a visit of edges before their end.
struct Enough {};

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
            return EdgeRow{self, target_row(heap, reference.target), reference, followed, std::nullopt};
        });
    });
}

template <class F>
void each_referrer(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   KeptAnswers* answers, F&& visit) {
    const ObjectRow self = brief_object_row(heap, object);
    NativeHolderFinder holders(heap, answers);
    heap.visit_referrers(object, [&](ObjectId source, const Reference& reference) {
        const bool followed = structural.follows(
            source == no_object ? Address() : heap.snapshot().address_of(source), reference);
        visit(reference, followed, [&] {
            EdgeRow row{source_row(heap, source, reference), self, reference, followed, std::nullopt};
            if (source == no_object) row.holder = holders.of(reference.word);
            return row;
        });
    });
}

/// each(visit) hands out all edges in their own order.
template <class Each>
EdgeList collected(const HeapReader& heap, const KeptQuestion& question, std::size_t limit,
                   KeptAnswers* answers, Each&& each) {
    EdgeList list;
    bool found_now = false;
    const KeptCounts counts = kept_answer(answers, question, heap, [&] {
        found_now = true;
        Collector collector(list, limit);
        each([&](const Reference& reference, bool followed, auto&& row) {
            collector.add(reference, followed, row);
        });
        collector.finish();
        return KeptCounts{list.total, list.followed, list.owned, list.guesses};
    });
    if (found_now) return list;
    list.total = counts.total;
    list.followed = counts.followed;
    list.owned = counts.owned;
    list.guesses = counts.guesses;
    if (limit == no_edges) return list;
    Collector collector = Collector::of_counted(list, limit);
    try {
        each([&](const Reference& reference, bool followed, auto&& row) {
            collector.add(reference, followed, row);
            if (limit != 0 && collector.has_all()) throw Enough();
        });
    } catch (const Enough&) {
    }
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
                   std::size_t limit, KeptAnswers* answers) {
    const auto question = KeptQuestion("referents").with(std::uint32_t{object});
    return collected(heap, question, limit, answers,
                     [&](auto&& visit) { each_referent(heap, structural, object, visit); });
}

EdgeList referrers(const HeapReader& heap, const StructuralTargets& structural, ObjectId object,
                   std::size_t limit, KeptAnswers* answers) {
    const auto question = KeptQuestion("referrers").with(std::uint32_t{object});
    return collected(heap, question, limit, answers,
                     [&](auto&& visit) { each_referrer(heap, structural, object, answers, visit); });
}

void visit_referents(const HeapReader& heap, ObjectId object, const EdgeList& list,
                     const EdgeVisitor& visit) {
    const StructuralTargets structural = structural_targets(heap.snapshot());
    in_order(list, visit, [&](auto&& edge) { each_referent(heap, structural, object, edge); });
}

void visit_referrers(const HeapReader& heap, ObjectId object, const EdgeList& list,
                     const EdgeVisitor& visit) {
    const StructuralTargets structural = structural_targets(heap.snapshot());
    in_order(list, visit, [&](auto&& edge) { each_referrer(heap, structural, object, nullptr, edge); });
}

EdgesResult referents(const HeapReader& heap, ObjectId object, std::size_t limit, KeptAnswers* answers) {
    return {object_row(heap, object),
            referents(heap, structural_targets(heap.snapshot()), object, limit, answers)};
}

EdgesResult referrers(const HeapReader& heap, ObjectId object, std::size_t limit,
                      const ProgressCallback& progress, KeptAnswers* answers) {
    if (progress) progress("looking for referrers", 0);
    return {object_row(heap, object),
            referrers(heap, structural_targets(heap.snapshot()), object, limit, answers)};
}

}  // namespace heapsift
