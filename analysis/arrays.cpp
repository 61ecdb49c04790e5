// One table at a time, and for the summary a little of each. Rows are completed here; the renderer prints
// them.

#include "analysis/arrays.h"

#include "analysis/object_paths.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

constexpr std::size_t most_column_names = 8;

std::vector<ArrayOwnerSort> owners_by_sort(const HeapSnapshot& heap, const ArrayTable& table) {
    std::map<std::string, ArrayOwnerSort> sorts;
    for (const ArrayOwner& owner : table.owners) {
        const std::string name = owner.object == no_object ? "native memory, lent by C code"
                                 : is_array(heap, owner.object)
                                     ? "arrays that own their elements"
                                     : type_name(heap.types, heap.type_of(owner.object));
        ArrayOwnerSort& sort = sorts[name];
        sort.name = name;
        ++sort.owners;
        sort.bytes += owner.nbytes();
        sort.views += owner.views;
    }
    std::vector<ArrayOwnerSort> rows;
    for (auto& [name, sort] : sorts) rows.push_back(std::move(sort));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ArrayOwnerSort& a, const ArrayOwnerSort& b) { return a.bytes > b.bytes; });
    return rows;
}

ArrayOwnerRow owner_row(const HeapReader& heap, const ArrayOwner& owner) {
    const HeapSnapshot& columns = heap.snapshot();
    ArrayOwnerRow row;
    row.owner = owner;
    row.address = columns.address_of(owner.object == no_object ? owner.lent_to : owner.object);
    if (owner.object == no_object) return row;
    row.object = object_row(heap, owner.object);
    row.is_array = is_array(columns, owner.object);
    return row;
}

void find_waste(Work& work, ArraysResult& result) {
    std::vector<ObjectId> owners, shown;
    for (const SeenArray& seen : result.table.arrays)
        if (seen.owns_bytes) owners.push_back(seen.object);
    result.waste = array_waste(work.heap(), owners, result.query.rows, work.progress());
    for (const ArrayWaste& row : result.waste.rows) shown.push_back(row.array);
    const ExpressionFinder expressions(work.graph(), shown, work.progress());
    for (ArrayWaste& waste : result.waste.rows) {
        ArrayWasteRow& row = result.waste_rows.emplace_back();
        row.object = object_row(work.heap(), waste.array);
        if (auto found = expressions.of(waste.array)) row.expression = std::move(found->expression);
        row.waste = std::move(waste);
    }
    result.waste.rows.clear();
}

}  // namespace

ArraysResult arrays(Work& work, const ArraysQuery& query) {
    using Table = ArraysQuery::Table;
    const HeapReader& heap = work.heap();
    const HeapGraph& graph = work.graph();
    ArraysResult result;
    result.query = query;
    const std::vector<PandasFrame> frames = pandas_frames(heap, most_column_names);
    const std::vector<DroppedFrame> dropped = dropped_frames(heap, frames, most_column_names);
    result.table = array_table(graph, kept_parents(frames, dropped), work.progress());
    std::vector<PandasFrame> holding = frames;
    add_dropped(holding, dropped);
    const auto find_holders = [&](std::size_t limit, bool with_dominators, std::size_t shown) {
        std::optional<RetainedLookup> retained;
        if (with_dominators) retained.emplace(graph, work.retained());
        result.holders = array_holders(graph, result.table, holding, query.only_pinned, limit,
                                       retained ? &*retained : nullptr, work.progress());
        if (retained) result.common = common_holder(*retained, result.holders, shown);
    };
    const auto find_frames = [&] {
        result.dropped = dropped_rows(graph, result.table, frames, dropped, query.every_frame);
    };
    switch (query.table) {
        case Table::views:
            result.arrays = list_arrays(result.table, true, query.rows);
            break;
        case Table::waste:
            find_waste(work, result);
            break;
        case Table::owners:
            result.owners = list_owners(
                result.table, query.only_pinned ? OwnerChoice::pinned : OwnerChoice::all, query.rows);
            result.places = places_of(graph, result.table, frames, result.owners, work.progress());
            if (!query.only_pinned) break;
            find_holders(most_holders_of_pinned, false, 0);
            find_frames();
            break;
        case Table::holders:
            find_holders(query.rows, true, 0);
            break;
        case Table::summary:
            result.arrays = list_arrays(result.table, false, query.rows);
            result.owners = list_owners(result.table, OwnerChoice::all, query.rows);
            result.sorts = owners_by_sort(heap.snapshot(), result.table);
            find_holders(query.rows, true, most_holders_in_summary);
            result.frames = frame_rows(graph, result.table, frames, query.every_frame);
            result.frame_count = frames.size();
            find_frames();
            break;
    }
    return result;
}

ArrayOwnerRow array_owner_row(const HeapReader& heap, const ArraysResult& result, std::size_t at) {
    ArrayOwnerRow row = owner_row(heap, result.table.owners[result.owners[at]]);
    if (result.places.empty()) return row;
    row.place = result.places[at];
    if (row.place.example != no_object) row.example = heap.snapshot().address_of(row.place.example);
    return row;
}

ShownArray shown_array(const HeapReader& heap, const ArraysResult& result, std::size_t at) {
    const SeenArray& seen = result.table.arrays[result.arrays[at]];
    return {object_row(heap, seen.object), array_row(heap, seen.object), seen.nbytes,
            owner_row(heap, result.table.owners[seen.owner])};
}

}  // namespace heapsift
