// The type table.

#include "cli/render/types.h"

#include "cli/render/object.h"
#include "cli/sort_option.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

using NamedCount = std::pair<std::string, std::uint64_t>;

constexpr std::size_t narrowest_with_size = 100;

// "12 pandas.DataFrame, 3 a.B and 4 more types"
std::string named_counts(const std::vector<NamedCount>& counts, std::size_t most = 3) {
    std::string text;
    for (std::size_t i = 0; i < counts.size() && i < most; ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", grouped(counts[i].second), counts[i].first);
    if (counts.size() > most) text += " and " + counted(counts.size() - most, "more type");
    return text;
}

std::string command_of_table(SortKey sort) {
    return sort == SortKey::retained ? "types" : "types --sort " + name_of(sort);
}

Text types_total(const TypesResult& result) {
    Text text = at_least() + says("{} of {}: memory {}", how_many(result.total_count, "object"),
                                  how_many(result.total_types, "type"), ByteCount{result.total_memory});
    if (result.total_array_data > 0)
        text += says(", of it array data {}", ByteCount{result.total_array_data});
    return text + says("; size {}", ByteCount{result.total_size});
}

}  // namespace

Block types_table(const std::shared_ptr<const TypesResult>& result, SortKey sort,
                  const std::string& options) {
    const bool retained = result->retained_computed;
    TableBlock table;
    table.columns = {right(at_least() + "objects", sort == SortKey::count),
                     right(at_least() + "memory", sort == SortKey::memory),
                     right(at_least() + "array data", sort == SortKey::array_data),
                     right(at_least() + "size", sort == SortKey::size)};
    // On a narrow page size goes first, since memory says nearly the same.
    if (retained && sort != SortKey::size) table.columns.back().narrow_page = narrowest_with_size;
    if (retained) {
        table.columns.push_back(right(about() + "retained", sort == SortKey::retained));
        table.columns.push_back(right("of it native"));
        table.columns.back().optional = true;
        table.columns.back().narrow_page = narrowest_with_size;
    }
    table.columns.push_back(left("type", TextColumn::Fit::middle));
    table.columns.back().sorted = sort == SortKey::name;
    table.rows = rows_of<TableRow>(result, &TypesResult::types, [retained](const TypeRow& row) {
        TableRow cells{.bytes = row.memory};
        cells.cells = {Count{row.count}, ByteCount{row.memory}, array_data_bytes(row.array_data),
                       ByteCount{row.size}};
        if (retained) {
            const std::uint64_t all = row.retained.value_or(0);
            cells.cells.push_back(bytes_or_blank(row.retained));
            cells.cells.push_back(row.native > 0 && row.native >= all / 100 ? Text(ByteCount{row.native})
                                                                            : Text());
        }
        cells.cells.emplace_back(TypeName{row.name});
        return cells;
    });
    table.rest = TableRest{.rows = result->total_types,
                           .singular = "more type",
                           .bytes = result->total_memory,
                           .all = CommandLine{command_of_table(sort) + options + all_rows}};
    return {std::move(table)};
}

Datum type_data(const TypeRow& row) {
    return entries({{"name", row.name},
                    {"address", or_null(row.address)},
                    {"count", row.count},
                    {"size", row.size},
                    {"memory", row.memory},
                    {"array_data", row.array_data},
                    {"retained", row.retained},
                    {"largest", row.largest.id == no_object ? Datum() : object_data(row.largest)},
                    {"native", row.retained ? Datum(row.native) : Datum()}});
}

Datum types_total_data(const TypesResult& result) {
    return entries({{"types", result.total_types},
                    {"count", result.total_count},
                    {"size", result.total_size},
                    {"memory", result.total_memory},
                    {"array_data", result.total_array_data},
                    {"shown_memory", result.shown_memory}});
}

Document render_types(TypesResult types, SortKey sort, const std::string& type, bool subclasses) {
    const auto result = kept(std::move(types));
    const std::string of_type =
        type.empty() ? std::string() : " --type " + shell_quoted(type) + (subclasses ? " --subclasses" : "");
    Document document{.command = "types"};
    document.rows_key = "types";
    document.rows = rows_of<Datum>(result, &TypesResult::types, type_data);
    document.csv_columns = {"name",       "address",  "count",   "size",  "memory",
                            "array_data", "retained", "largest", "native"};
    document.data["total"] = types_total_data(*result);
    if (result->types.empty()) {
        document.say(line(type.empty() ? "This core holds no Python objects that could be found."
                                       : "This core has no object of such a type."));
        return document;
    }
    document.say(types_table(result, sort, of_type));
    if (result->retained_computed) document.say(sentence(std::string(retained_legend)));
    document.say(sentence(types_total(*result)));
    if (!result->retained_computed)
        document.say(sentence("For retained sizes:", CommandLine{"types --sort retained" + of_type}));
    const TypeRow& top = result->types.front();
    if (top.largest.id != no_object)
        document.say(hint(says("show {}", top.largest.address),
                          says(top.count == 1 ? "the only {}" : "the largest {}", TypeName{top.name})));
    return document;
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
    constexpr std::uint64_t counted =
        2;  // at most: by an io.BytesIO and by the bytes in which it keeps its text
    if (size / counted <= mapped && memory <= mapped) return;
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

void note_uncertain_sizes(const TypesResult& result, Diagnostics& diagnostics, bool each_type) {
    note_damaged_objects(result.damaged_objects, diagnostics);
    if (each_type && !result.python_sizeof_types.empty())
        diagnostics.add("sizeof-in-python",
                        "a __sizeof__ written in Python is not run; sizes are the C base's of " +
                            named_counts(result.python_sizeof_types, 1));
    if (each_type && !result.uncertain_types.empty())
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
