#include "analysis/kept_types.h"

#include <fmt/format.h>

#include <string_view>

namespace heapsift {
namespace {

constexpr std::string_view part_begins_with = "types ";

std::string part_name(SortKey sort, std::size_t limit) {
    return fmt::format("{}{} {}", part_begins_with, static_cast<unsigned>(sort), limit);
}

template <class Part>
void named_counts(FieldsOf<Part, std::vector<std::pair<std::string, std::uint64_t>>>& rows, Part& part) {
    part.list(rows, [](auto& row, Part& p) {
        p.text(row.first);
        p.number(row.second);
    });
}

// The names of types are in the core; the largest objects are read anew.
template <class Part>
void result_fields(FieldsOf<Part, TypesResult>& result, Part& part, const HeapSnapshot* heap) {
    part.list(result.types, [&](auto& row, Part& p) {
        for (auto* number : {&row.count, &row.size, &row.memory, &row.array_data}) p.number(*number);
        p.number(row.address);
        bool computed = row.retained.has_value();
        std::uint64_t retained = row.retained.value_or(0);
        p.number(computed);
        p.number(retained);
        p.number(row.largest.id);
        if constexpr (Part::reading) {
            p.require(row.largest.id < heap->object_count(), "the largest object of a type is none");
            const TypeId type = row.address.is_null() ? no_type : heap->types.find(row.address);
            p.require(row.address.is_null() || type != no_type, "a type is not there");
            row.name = type_name(heap->types, type);
            row.retained = computed ? std::optional(retained) : std::nullopt;
        }
    });
    for (auto* number : {&result.total_types, &result.total_count, &result.total_size, &result.total_memory,
                         &result.total_array_data, &result.shown_memory, &result.uncertain_sizes,
                         &result.damaged_objects, &result.anonymous_objects})
        part.number(*number);
    named_counts(result.uncertain_types, part);
    named_counts(result.python_sizeof_types, part);
    part.number(result.retained_computed);
}

}  // namespace

std::optional<TypesResult> read_kept_types(IndexFile& index, const HeapReader& heap, SortKey sort,
                                           std::size_t limit) {
    TypesResult result;
    if (!index.read(part_name(sort, limit),
                    [&](PartReader& part) { result_fields(result, part, &heap.snapshot()); }))
        return std::nullopt;
    for (TypeRow& row : result.types) row.largest = object_row(heap, row.largest.id);
    return result;
}

bool room_for_types(const IndexFile& index) {
    constexpr std::size_t most = 16;
    return index.parts_beginning_with(part_begins_with) < most;
}

PartWriter kept_types_part(const TypesResult& result, SortKey sort, std::size_t limit) {
    PartWriter part(part_name(sort, limit));
    result_fields(result, part, nullptr);
    return part;
}

}  // namespace heapsift
