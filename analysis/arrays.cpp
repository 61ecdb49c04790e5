// One table at a time, and for the summary a little of each. Rows are completed here; the renderer prints
// them.

#include "analysis/arrays.h"

#include "analysis/object_paths.h"
#include "analysis/tensor_storages.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

constexpr std::size_t most_column_names = 8;

std::string sort_words(const HeapSnapshot& heap, const ArrayOwnerSort& sort) {
    switch (sort.kind) {
        case ArrayOwnerSort::Kind::native:
            return "native memory, lent by C code";
        case ArrayOwnerSort::Kind::array:
            return "arrays that own their elements";
        case ArrayOwnerSort::Kind::storage:
            return "torch storages, shown by tensors";
        case ArrayOwnerSort::Kind::exporter:
            break;
    }
    return type_name(heap.types, sort.type);
}

std::vector<ArrayOwnerSort> owners_by_sort(const HeapSnapshot& heap, const ArrayTable& table) {
    std::map<std::string, ArrayOwnerSort> sorts;
    for (const ArrayOwner& owner : table.owners) {
        ArrayOwnerSort of_this;
        if (!owner.storage.is_null()) of_this.kind = ArrayOwnerSort::Kind::storage;
        if (owner.object != no_object)
            of_this.kind =
                is_array(heap, owner.object) ? ArrayOwnerSort::Kind::array : ArrayOwnerSort::Kind::exporter;
        if (of_this.kind == ArrayOwnerSort::Kind::exporter) of_this.type = heap.type_of(owner.object);
        of_this.name = sort_words(heap, of_this);
        ArrayOwnerSort& sort = sorts.try_emplace(of_this.name, of_this).first->second;
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
    std::vector<ObjectId> owners;
    for (const SeenArray& seen : result.table.arrays)
        if (seen.owns_bytes && !seen.is_tensor) owners.push_back(seen.object);
    result.waste = array_waste(work.heap(), owners, result.query.rows, work.progress());
}

/// With the arrays' rows and expressions.
void complete_waste(Work& work, ArraysResult& result) {
    std::vector<ObjectId> shown;
    for (const ArrayWaste& row : result.waste.rows) shown.push_back(row.array);
    const ExpressionFinder expressions(work.graph(), shown, work.progress(), work.answers());
    for (ArrayWaste& waste : result.waste.rows) {
        ArrayWasteRow& row = result.waste_rows.emplace_back();
        row.object = object_row(work.heap(), waste.array);
        if (auto found = expressions.of(waste.array)) row.expression = std::move(found->expression);
        row.waste = std::move(waste);
    }
    result.waste.rows.clear();
}

ArraysResult find_arrays_of(Work& work, const ArraysQuery& query) {
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
        if (with_dominators) {
            retained.emplace(graph, work.retained());
            graph.give_up_sources();  // the search for what holds the arrays takes as much memory
        }
        result.holders = array_holders(graph, result.table, holding, query.only_pinned, limit,
                                       retained ? &*retained : nullptr, work.progress());
        if (retained) result.common = common_holder(*retained, result.holders, shown, work.answers());
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
            result.places =
                places_of(graph, result.table, frames, result.owners, work.progress(), work.answers());
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

/// Which arrays could be smaller, and sums; kept. What is said of each is read anew from its elements.
struct KeptWaste {
    ArraysResult result;

    std::size_t rows() const { return result.waste.rows.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        auto& waste = self.result.waste;
        part.number(self.result.table.sums);
        part.list(waste.rows, [&](auto& row, Part& p) {
            kept_object(row.array, p, heap);
            p.require(is_array(heap.snapshot(), row.array), "an array is none");
        });
        for (auto* number : {&waste.total_rows, &waste.total_nbytes, &waste.total_needed, &waste.looked_at,
                             &waste.not_saved, &waste.not_read})
            part.number(*number);
    }
};

ArraysResult arrays_with_waste(Work& work, const ArraysQuery& query) {
    bool found_now = false;
    KeptWaste kept = kept_answer(work.answers(), KeptQuestion("waste").with(query.rows), work.heap(), [&] {
        found_now = true;
        return KeptWaste{find_arrays_of(work, query)};
    });
    ArraysResult result = std::move(kept.result);
    if (!found_now) {
        result.query = query;
        std::vector<ObjectId> arrays;
        for (const ArrayWaste& row : result.waste.rows) arrays.push_back(row.array);
        result.waste.rows = array_waste(work.heap(), arrays, 0).rows;
    }
    complete_waste(work, result);
    return result;
}

/// All that is shown, but no DataFrames; kept. Of the table only the arrays and owners that are in a list.
struct KeptArrays {
    ArraysResult result;
    bool keepable = true;

    std::size_t rows() const {
        const std::size_t rows = result.arrays.size() + result.owners.size() + result.holders.rows.size();
        return keepable ? rows : KeptAnswers::most_rows + 1;
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        auto& result = self.result;
        const HeapReader& heap = graph.heap();
        if constexpr (Part::reading)
            table_fields(result, part, heap);
        else
            table_fields(only_shown(result), part, heap);
        part.list(result.places, [&](auto& place, Part& p) { kept_object_or_none(place.example, p, heap); });
        part.require(result.places.empty() || result.places.size() == result.owners.size(),
                     "there are other owners");
        part.list(result.sorts, [&](auto& sort, Part& p) {
            p.number(sort.kind);
            p.require(sort.kind <= ArrayOwnerSort::Kind::storage, "owners are of no sort");
            kept_type(sort.type, p, heap);
            for (auto* number : {&sort.owners, &sort.bytes, &sort.views}) p.number(*number);
            if constexpr (Part::reading) sort.name = sort_words(heap.snapshot(), sort);
        });
        array_holders_fields(result.holders, part, graph);
        bool common = result.common.has_value();
        part.number(common);
        if constexpr (Part::reading)
            if (common) result.common.emplace();
        if (!common) return;
        part.number(result.common->node);
        part.number(result.common->rows);
        part.require(result.common->node < graph.node_count(), "a number is no node's");
    }

private:
    struct Shown {
        ArrayTable table;
        std::vector<std::uint32_t> arrays, owners;
    };

    static Shown only_shown(const ArraysResult& result) {
        Shown shown;
        shown.table.sums = result.table.sums;
        std::map<std::uint32_t, std::uint32_t> places;
        const auto place_of = [&](std::uint32_t owner) {
            const auto [at, is_new] =
                places.try_emplace(owner, static_cast<std::uint32_t>(shown.table.owners.size()));
            if (is_new) {
                shown.table.owners.push_back(result.table.owners[owner]);
                shown.table.owners.back().first = shown.table.owners.back().count = 0;
            }
            return at->second;
        };
        for (const std::uint32_t array : result.arrays) {
            shown.arrays.push_back(static_cast<std::uint32_t>(shown.table.arrays.size()));
            shown.table.arrays.push_back(result.table.arrays[array]);
            shown.table.arrays.back().owner = place_of(result.table.arrays[array].owner);
        }
        for (const std::uint32_t owner : result.owners) shown.owners.push_back(place_of(owner));
        return shown;
    }

    template <class Result, class Part>
    static void table_fields(Result&& result, Part& part, const HeapReader& heap) {
        auto& table = result.table;
        part.number(table.sums);
        part.list(table.owners, [&](auto& owner, Part& p) {
            kept_object_or_none(owner.object, p, heap);
            kept_object_or_none(owner.lent_to, p, heap);
            p.require(owner.object != no_object || owner.lent_to != no_object, "an owner is nobody");
            for (auto* number : {&owner.bytes.begin, &owner.bytes.end, &owner.visible_bytes})
                p.number(*number);
            p.number(owner.views);
            p.number(owner.storage);
            for (auto* flag : {&owner.size_known, &owner.saved, &owner.kept_by_views, &owner.garbage,
                               &owner.visible_exact})
                p.number(*flag);
        });
        part.list(table.arrays, [&](auto& array, Part& p) {
            kept_object(array.object, p, heap);
            p.number(array.owner);
            p.number(array.nbytes);
            for (auto* flag : {&array.is_scalar, &array.owns_bytes, &array.held_by_base, &array.is_tensor})
                p.number(*flag);
            p.require(array.owner < table.owners.size() &&
                          (array.is_tensor ? is_tensor(heap.snapshot(), array.object)
                                           : is_array(heap.snapshot(), array.object)),
                      "an array is none");
        });
        part.list(result.arrays, [&](auto& at, Part& p) {
            p.number(at);
            p.require(at < table.arrays.size(), "an array is not there");
        });
        part.list(result.owners, [&](auto& at, Part& p) {
            p.number(at);
            p.require(at < table.owners.size(), "an owner is not there");
        });
    }
};

}  // namespace

ArraysResult arrays(Work& work, const ArraysQuery& query) {
    if (query.table == ArraysQuery::Table::waste) return arrays_with_waste(work, query);
    // Texts of DataFrames are the program's own.
    auto question = KeptQuestion("arrays").with(query.table).with(query.only_pinned);
    question.with(query.rows).with(query.every_frame);
    const HeapGraph& graph = work.graph();
    bool found_now = false;
    KeptArrays kept = kept_answer(work.answers(), question, graph, [&] {
        found_now = true;
        KeptArrays found{find_arrays_of(work, query)};
        found.keepable = found.result.frame_count == 0 && found.result.dropped.count == 0 &&
                         may_be_kept(graph, found.result.holders);
        return found;
    });
    ArraysResult result = std::move(kept.result);
    if (found_now) return result;
    result.query = query;
    if (result.common)
        result.common = common_holder(RetainedLookup(graph, work.retained()), result.common->node,
                                      result.common->rows, work.answers());
    express(result.places, graph, work.progress(), work.answers());
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
