#include "cli/render/type_lines.h"

#include "cli/render/lines.h"
#include "cli/render/object.h"
#include "cli/render/source_line.h"
#include "cli/sort_option.h"

namespace heapsift {
namespace {

Datum type_line_data(const TypeLineRow& row) {
    return entries({{"name", row.type},
                    {"address", row.type_address},
                    {"file", FilePath{row.line.file}},
                    {"line", row.line.line > 0 ? Datum(row.line.line) : Datum()},
                    {"count", row.count},
                    {"size", row.size},
                    {"memory", row.memory},
                    {"largest", row.largest}});
}

TableBlock type_lines_table(const std::shared_ptr<const TypeLinesResult>& result, SortKey sort,
                            const std::string& options) {
    TableBlock table;
    table.columns = {right(at_least() + "objects", sort == SortKey::count),
                     right(at_least() + "memory", sort == SortKey::memory),
                     right(at_least() + "size", sort == SortKey::size), left("type", TextColumn::Fit::middle),
                     left("allocated at", TextColumn::Fit::middle)};
    if (sort != SortKey::size) table.columns[2].narrow_page = 100;
    table.columns[3].sorted = sort == SortKey::name;
    table.rows = rows_of<TableRow>(result, &TypeLinesResult::rows, [](const TypeLineRow& row) {
        return TableRow{.cells = {Count{row.count}, ByteCount{row.memory}, ByteCount{row.size},
                                  TypeName{row.type}, line_words(row.line)},
                        .bytes = row.memory};
    });
    const std::string sorted = sort == SortKey::memory ? "" : " --sort " + name_of(sort);
    table.rest = TableRest{.rows = result->total_rows,
                           .singular = "more row",
                           .bytes = result->total_memory,
                           .all = CommandLine{"types --by-line" + options + sorted + all_rows}};
    return table;
}

}  // namespace

Document render_type_lines(TypeLinesResult lines, SortKey sort, const std::string& options) {
    const auto result = kept(std::move(lines));
    Document document{.command = "types"};
    document.rows_key = "types";
    document.rows = rows_of<Datum>(result, &TypeLinesResult::rows, type_line_data);
    document.csv_columns = {"name", "address", "file", "line", "count", "size", "memory", "largest"};
    document.data["tracing"] = result->tracing;
    document.data["total"] = entries(
        {{"rows", result->total_rows},
         {"count", result->total_count},
         {"size", result->total_size},
         {"memory", result->total_memory},
         {"shown_memory", result->shown_memory},
         {"untraced", entries({{"count", result->untraced_count}, {"memory", result->untraced_memory}})}});
    if (!result->tracing) {
        say_not_traced(result->available, document);
        return document;
    }
    if (result->rows.empty()) {
        document.say(sentence("tracemalloc recorded none of these objects."));
        document.say(hint("lines", "what it recorded"));
        return document;
    }
    document.say({type_lines_table(result, sort, options)});
    Text total = at_least() + says("{}: memory {}", how_many(result->total_count, "object"),
                                   ByteCount{result->total_memory});
    if (result->untraced_count > 0)
        total += says("; {} more ({}) were not traced: older than tracing, or part of a program's data",
                      Count{result->untraced_count}, ByteCount{result->untraced_memory});
    document.say(sentence(std::move(total)));
    document.say(hint(says("show {}", result->rows.front().largest),
                      says("the largest {} of the first line", TypeName{result->rows.front().type})));
    return document;
}

}  // namespace heapsift
