#include "analysis/retained.h"

#include <algorithm>

namespace heapsift {

namespace {

/// As it is kept: the names of types are in the core.
struct KeptRetained {
    RetainedResult result;

    std::size_t rows() const { return result.types.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        auto& result = self.result;
        for (auto* number : {&result.asked, &result.objects, &result.retained, &result.retained_size,
                             &result.total_types, &result.shown_memory, &result.native})
            part.number(*number);
        part.list(result.types, [&](auto& row, Part& p) {
            kept_type(row.type, p, graph.heap());
            p.require(row.type != no_type, "a row is of no type");
            for (auto* number : {&row.count, &row.memory, &row.size}) p.number(*number);
            if constexpr (Part::reading) row.name = graph.columns().types[row.type].name;
        });
    }
};

}  // namespace

RetainedResult kept_retained(KeptAnswers* answers, const KeptQuestion& question, const HeapGraph& graph,
                             const std::function<RetainedResult()>& find) {
    return kept_answer(answers, question, graph, [&] { return KeptRetained{find()}; }).result;
}

RetainedResult retained(const HeapGraph& graph, std::span<const ObjectId> set, std::size_t limit,
                        const RetainedSizes* known) {
    RetainedResult result;
    const HeapReader& heap = graph.heap();
    const HeapSnapshot& columns = heap.snapshot();
    result.asked = set.size();
    std::vector<RetainedResult::Row> rows(columns.types.size());
    std::vector<ObjectSizes> sizes(1);
    const bool by_dominators = known && set.size() == 1;
    RetainedSet freed;
    if (by_dominators) {
        const RetainedLookup lookup(graph, *known);
        freed = {lookup.dominated(graph.node_of(set[0])), lookup.native(graph.node_of(set[0]))};
    } else {
        freed = retained_by(graph, NodeRow(set));
    }
    result.retained = result.native = freed.native;
    for (const ObjectId object : freed.objects) {
        sizes[0] = ObjectSizes();
        if (columns.sizes.there())
            sizes[0] = (*columns.sizes)[object];
        else
            heap.sizes(object, sizes);
        // Part of a program, and never freed: a small int.
        if (sizes[0].memory == 0 && heap.facts(object).immortal) continue;
        ++result.objects;
        result.retained += sizes[0].memory;
        result.retained_size += sizes[0].size;
        RetainedResult::Row& row = rows[columns.type_of(object)];
        ++row.count;
        row.memory += sizes[0].memory;
        row.size += sizes[0].size;
    }
    for (TypeId type{0}; type < rows.size(); ++type) {
        if (rows[type].count == 0) continue;
        rows[type].type = type;
        rows[type].name = columns.types[type].name;
        result.types.push_back(std::move(rows[type]));
    }
    std::stable_sort(result.types.begin(), result.types.end(), [](const auto& a, const auto& b) {
        return a.memory != b.memory ? a.memory > b.memory : a.name < b.name;
    });
    result.total_types = result.types.size();
    if (limit != 0 && result.types.size() > limit) result.types.resize(limit);
    for (const RetainedResult::Row& row : result.types) result.shown_memory += row.memory;
    return result;
}

}  // namespace heapsift
