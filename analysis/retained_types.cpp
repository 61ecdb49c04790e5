// Exact sizes of sets are expensive: one walk over the heap for 64 of them, and a heap has a thousand types.
// The dominator tree gives an estimate for all in one pass: what the topmost objects of a type dominate. This
// leaves out what several objects hold jointly, and counts twice what is below a third type; so six times as
// many rows as a screen has are computed exactly, and the largest of these are shown. Those with the smallest
// estimates are first asked as one set: what all of them retain is more than what any of them does, and mostly less
// than what is shown. A type with one instance needs no walk: it retains what its instance does.

#include "analysis/retained_types.h"

#include "parsers/base/in_pieces.h"

#include <algorithm>
#include <functional>

namespace heapsift {
namespace {

constexpr std::size_t least_candidates = 128, sets_at_once = 64;

/// By type; the last one for objects whose type was not found.
class RowsByType {
public:
    explicit RowsByType(const HeapSnapshot& heap) : heap_(heap) {}
    std::size_t count() const { return heap_.types.size() + 1; }
    std::size_t operator[](ObjectId object) const {
        return std::min<std::size_t>(heap_.type_of(object), heap_.types.size());
    }

    /// Prefetches what an object's row is found by.
    void fetch(ObjectId object) const { heap_.objects.types.fetch(object); }

private:
    const HeapSnapshot& heap_;
};

std::vector<std::uint64_t> dominated_by_type(const RetainedLookup& retained, const RowsByType& type) {
    using Sums = std::vector<std::uint64_t>;
    Sums sums(type.count());
    const HeapGraph& graph = retained.graph();
    // In preorder: the dominators of a node were met shortly before it.
    const Preorder& preorder = graph.preorder();
    constexpr std::size_t ahead = 32, positions_a_piece = 1 << 18;
    const auto fetch = [&](NodeId node) {
        if (graph.kind(node) == NodeKind::object) type.fetch(graph.object_of(node));
    };
    const auto add = [&](std::uint32_t p, Sums& some) {
        const NodeId node = preorder.node_at(p);
        if (graph.kind(node) != NodeKind::object) return;
        std::uint32_t dominator = retained.tree().dominator(p);
        while (dominator != Preorder::none && graph.kind(preorder.node_at(dominator)) == NodeKind::block)
            dominator = retained.tree().dominator(dominator);
        const NodeId above = dominator == Preorder::none ? no_node : preorder.node_at(dominator);
        const std::size_t row = type[graph.object_of(node)];
        if (above != no_node && graph.kind(above) == NodeKind::object && type[graph.object_of(above)] == row)
            return;
        some[row] += retained.memory_at(p);
    };
    in_pieces<Sums>(
        piece_count(preorder.reached(), positions_a_piece),
        [&](std::size_t piece, Sums& some) {
            some.assign(sums.size(), 0);
            const auto [begin, end] = piece_of(piece, preorder.reached(), positions_a_piece);
            for (std::size_t p = begin; p < end; ++p) {
                if (preorder.reached() - p > ahead)
                    fetch(preorder.node_at(static_cast<std::uint32_t>(p + ahead)));
                add(static_cast<std::uint32_t>(p), some);
            }
        },
        [&](std::size_t, const Sums& some) {
            for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += some[row];
        });
    return sums;
}

/// The rows, largest estimate first.
std::vector<TypeRow*> by_estimate(TypesResult& result, const RetainedLookup& retained,
                                  const RowsByType& type) {
    const std::vector<std::uint64_t> dominated = dominated_by_type(retained, type);
    const auto estimate = [&](const TypeRow* row) {
        return std::max(row->memory, dominated[type[row->largest.id]]);
    };
    std::vector<TypeRow*> rows;
    for (TypeRow& row : result.types) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const TypeRow* a, const TypeRow* b) { return estimate(a) > estimate(b); });
    return rows;
}

/// What each of `sets` retains; those from `alone` on together, in the last row.
std::vector<SetRetained> retained_by_types(std::span<TypeRow* const> sets, std::size_t alone,
                                           const RetainedLookup& retained, const RowsByType& type,
                                           const ProgressCallback& progress) {
    std::vector<std::int32_t> set_of_type(type.count(), -1);
    for (std::size_t i = 0; i < sets.size(); ++i)
        set_of_type[type[sets[i]->largest.id]] = static_cast<std::int32_t>(std::min(i, alone));
    return retained_by_sets(
        retained.graph(), std::min(sets.size(), alone + 1),
        [&](ObjectId object) { return set_of_type[type[object]]; }, progress);
}

void put(std::span<TypeRow* const> sets, std::span<const SetRetained> found) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
        sets[i]->retained = found[i].memory;
        sets[i]->native = found[i].native;
    }
}

/// Whether `wanted` of the rows, as far as they are computed, retain more than that.
bool are_more(const std::vector<TypeRow*>& rows, std::size_t wanted, std::uint64_t retained) {
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const TypeRow* row) {
               return row->retained.value_or(0) > retained;
           })) >= wanted;
}

/// `wanted`: only the rows that retain most are needed, so many; 0: all.
void compute(const std::vector<TypeRow*>& rows, std::size_t wanted, const RetainedLookup& retained,
             const RowsByType& type, const ProgressCallback& progress) {
    std::vector<TypeRow*> all;
    for (TypeRow* row : rows) {
        if (row->count == 1) {
            row->retained = retained.memory(row->largest.id);
            row->native = retained.native(row->largest.id);
            continue;
        }
        all.push_back(row);
    }
    std::span<TypeRow* const> sets = all;
    constexpr std::size_t alone = sets_at_once - 1;
    if (wanted != 0 && wanted <= alone && sets.size() > sets_at_once) {
        const std::vector<SetRetained> found = retained_by_types(sets, alone, retained, type, progress);
        put(sets.first(alone), found);
        if (are_more(rows, wanted, found[alone].memory)) return;
        sets = sets.subspan(alone);
    }
    put(sets, retained_by_types(sets, sets.size(), retained, type, progress));
}

}  // namespace

void add_retained(TypesResult& result, const HeapGraph& graph, const RetainedSizes& sizes, SortKey sort,
                  std::size_t limit, const ProgressCallback& progress) {
    result.retained_computed = true;
    const RetainedLookup retained(graph, sizes);
    const RowsByType type(graph.columns());
    const bool chosen_by_retained = sort == SortKey::retained && limit != 0;
    if (!chosen_by_retained) {
        if (sort != SortKey::retained) {
            sort_types(result.types, sort);
            cut_types(result, limit);
        }
        std::vector<TypeRow*> rows;
        for (TypeRow& row : result.types) rows.push_back(&row);
        compute(rows, 0, retained, type, progress);
    } else {
        std::vector<TypeRow*> rows = by_estimate(result, retained, type);
        // Whole walks: those wanted, and some that the estimate may have misplaced.
        const std::size_t wanted = (limit + sets_at_once - 1) / sets_at_once * sets_at_once + sets_at_once;
        rows.resize(std::min(rows.size(), std::max(least_candidates, wanted)));
        compute(rows, limit, retained, type, progress);
    }
    if (sort == SortKey::retained) {
        sort_types(result.types, sort);
        cut_types(result, limit);
    }
}

}  // namespace heapsift
