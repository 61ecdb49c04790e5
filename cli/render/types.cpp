// The type table.

#include "cli/render/types.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

using NamedCount = std::pair<std::string, std::uint64_t>;

constexpr std::size_t narrowest_with_size = 100;

bool has_retained(const TypesResult& result) {
    return std::any_of(result.types.begin(), result.types.end(),
                       [](const TypeRow& row) { return row.retained.has_value(); });
}

// "12 of pandas.DataFrame, 3 of a.B and 4 more types"
std::string named_counts(const std::vector<NamedCount>& counts) {
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < counts.size() && i < most; ++i)
        text += fmt::format("{}{} of {}", i == 0 ? "" : ", ", grouped(counts[i].second), counts[i].first);
    if (counts.size() > most) text += " and " + counted(counts.size() - most, "more type");
    return text;
}

std::string types_total(const TypesResult& result, const Page& page) {
    std::string text = fmt::format("{} of {}: memory {}", counted(result.total_count, "object"),
                                   counted(result.total_types, "type"), page.bytes(result.total_memory));
    if (result.total_array_data > 0)
        text += fmt::format(", of it array data {}", page.bytes(result.total_array_data));
    return wrapped(page.at_least(text + fmt::format("; size {}", page.bytes(result.total_size))), page.width,
                   2);
}

std::string next_hint(const TypesResult& result, const Page& page) {
    const TypeRow& top = result.types.front();
    if (top.largest.id == no_object) return {};
    const std::string what = top.count == 1 ? "the only {}" : "the largest {}";
    return next_line(page, "show " + hexadecimal(top.largest.address.value),
                     fmt::format(fmt::runtime(what), type_text(top.name)));
}

std::string types_text(const TypesResult& result, SortKey sort, const Page& page) {
    if (result.types.empty()) return "This core holds no Python objects that could be found.\n";
    std::string text = types_table(result, sort, page) + types_footer(result, page);
    if (has_retained(result)) text += wrapped(std::string(retained_legend), page.width, 2) + "\n";
    return text + types_total(result, page) + "\n" + next_hint(result, page);
}

}  // namespace

std::string types_table(const TypesResult& result, SortKey sort, const Page& page) {
    using Align = TableColumn::Align;
    const bool retained = has_retained(result);
    // Size says little that memory does not: it is the first to go.
    const bool size =
        !retained || sort == SortKey::size || page.width == 0 || page.width >= narrowest_with_size;
    std::vector<TableColumn> columns{
        {Align::right, sorted_heading(page.at_least("objects"), sort == SortKey::count)}};
    columns.push_back({Align::right, sorted_heading(page.at_least("memory"), sort == SortKey::memory)});
    columns.push_back(
        {Align::right, sorted_heading(page.at_least("array data"), sort == SortKey::array_data)});
    if (size) columns.push_back({Align::right, sorted_heading(page.at_least("size"), sort == SortKey::size)});
    if (retained)
        columns.push_back({Align::right, sorted_heading(page.about("retained"), sort == SortKey::retained)});
    columns.push_back({Align::left, sorted_heading("type", sort == SortKey::name), TableColumn::Fit::middle});
    Table table(std::move(columns));
    for (const TypeRow& row : result.types) {
        std::vector<std::string> cells{grouped(row.count)};
        cells.push_back(page.bytes(row.memory));
        cells.push_back(array_data_text(row.array_data, page));
        if (size) cells.push_back(page.bytes(row.size));
        if (retained) cells.push_back(row.retained ? page.bytes(*row.retained) : "");
        cells.push_back(type_text(row.name));
        table.add(std::move(cells));
    }
    return table.text(page.width, page.colour);
}

std::string types_footer(const TypesResult& result, const Page& page) {
    if (result.types.size() >= result.total_types) return {};
    const std::string more = fmt::format(
        "… {}; {} {} of the memory.", counted(result.total_types - result.types.size(), "more type"),
        result.types.size() == 1 ? "this one is" : fmt::format("these {} are", grouped(result.types.size())),
        percent(result.shown_memory, result.total_memory));
    return wrapped_with_tail(more, "All: " + page.command(std::string("types") + all_rows), page.width, 2) +
           "\n";
}

Json type_json(const TypeRow& row, Redactor& redactor) {
    Json json;
    json["name"] = row.name;
    json["address"] = row.address.is_null() ? Json(nullptr) : address_json(row.address);
    json["count"] = row.count;
    json["size"] = row.size;
    json["memory"] = row.memory;
    json["array_data"] = row.array_data;
    json["retained"] = or_null(row.retained);
    json["largest"] = row.largest.id == no_object ? Json(nullptr) : object_json(row.largest, redactor);
    return json;
}

Json types_total_json(const TypesResult& result) {
    return {{"types", result.total_types},
            {"count", result.total_count},
            {"size", result.total_size},
            {"memory", result.total_memory},
            {"array_data", result.total_array_data},
            {"shown_memory", result.shown_memory}};
}

Answer render_types(const TypesResult& result, SortKey sort, Redactor& redactor) {
    Answer answer;
    answer.command = "types";
    answer.rows_key = "types";
    answer.rows = [&](const RowVisitor& visit) {
        for (const TypeRow& row : result.types) visit(type_json(row, redactor));
    };
    answer.csv_columns = {"name", "address", "count", "size", "memory", "array_data", "retained", "largest"};
    answer.data["total"] = types_total_json(result);
    answer.text = [&result, sort](const Page& page) { return types_text(result, sort, page); };
    return answer;
}

void note_damaged_objects(std::uint64_t count, Diagnostics& diagnostics) {
    if (count == 0) return;
    diagnostics.add("objects-damaged",
                    counted(count, "object does", "objects do") +
                        " not read: what they say of their own length is more than their memory, or "
                        "contradicts itself; only what "
                        "can be there is counted of them",
                    Severity::damage);
}

void note_impossible_total(std::uint64_t size, std::uint64_t memory, std::uint64_t mapped,
                           Diagnostics& diagnostics) {
    if (size <= mapped && memory <= mapped) return;
    diagnostics.add(
        "memory-counted-twice",
        "the objects' memory adds up to more than the process had: damaged objects claim the same blocks",
        Severity::damage);
}

void note_overlaps(std::uint64_t count, Diagnostics& diagnostics) {
    if (count == 0) return;
    diagnostics.add(
        "memory-rows-uneven",
        fmt::format("{} memory that belongs to another object or is free: each byte is counted once, "
                    "for one of them",
                    counted(count, "object or array claims", "objects or arrays claim")),
        Severity::damage);
}

void note_uncertain_sizes(const TypesResult& result, Diagnostics& diagnostics) {
    note_damaged_objects(result.damaged_objects, diagnostics);
    if (!result.python_sizeof_types.empty())
        diagnostics.add("sizeof-in-python",
                        "a __sizeof__ written in Python is not run, and the size is that of the C base: " +
                            named_counts(result.python_sizeof_types));
    if (!result.uncertain_types.empty())
        diagnostics.add(
            "sizeof-unknown",
            "how these measure themselves is not known, and the size is that of the object alone: " +
                named_counts(result.uncertain_types));
    if (result.anonymous_objects > 0)
        diagnostics.add("types-unnamed",
                        counted(result.anonymous_objects, "object is", "objects are") +
                            " of types whose names could not be read; --executable and --sysroot would help");
}

}  // namespace heapsift
