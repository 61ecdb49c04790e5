#include "analysis/retained.h"

#include <algorithm>

namespace heapsift {

RetainedResult retained(const HeapGraph& graph, std::span<const ObjectId> set, std::size_t limit) {
    RetainedResult result;
    const HeapReader& heap = graph.heap();
    const HeapSnapshot& columns = heap.snapshot();
    result.asked = set.size();
    std::vector<RetainedResult::Row> rows(columns.types.size());
    std::vector<ObjectSizes> sizes(1);
    for (const ObjectId object : retained_by(graph, NodeRow(set))) {
        sizes[0] = ObjectSizes();
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
