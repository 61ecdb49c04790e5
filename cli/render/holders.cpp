#include "cli/render/holders.h"

#include "cli/render/object.h"
#include "cli/render/types.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

Text held_as(const HolderRow& row) {
    Text text = row.holder;
    if (row.attribute.empty()) return text;
    if (!row.joined && !row.nameless) text += ".";
    return text + row.attribute;
}

/// `command` is the one that shows all rows.
Block holders_table(const std::shared_ptr<const HoldersResult>& result, bool with_types,
                    const std::string& command) {
    using Fit = TextColumn::Fit;
    TableBlock table;
    table.columns = {right("objects"), right("memory"), right("array data"),
                     right(about() + "retained", true)};
    table.columns[2].optional = true;
    if (with_types) table.columns.push_back(left("type", Fit::middle));
    table.columns.push_back(left("held as", Fit::middle));
    if (!with_types) table.columns.push_back(left("for example", Fit::end));
    table.rows = rows_of<TableRow>(result, &HoldersResult::rows, [with_types](const HolderRow& row) {
        TableRow cells{.cells = {Count{row.count}, ByteCount{row.memory}, array_data_bytes(row.array_data),
                                 bytes_or_blank(row.retained)}};
        if (with_types) cells.cells.emplace_back(TypeName{row.type_name});
        cells.cells.push_back(held_as(row));
        if (!with_types) cells.cells.emplace_back(row.expression);
        return cells;
    });
    table.rest = TableRest{
        .rows = result->total_rows, .singular = {}, .bytes = {}, .all = CommandLine{command + all_rows}};
    return {std::move(table)};
}

Datum holder_data(const HolderRow& row) {
    return entries({{"type", row.type_name},
                    {"holder", row.holder},
                    {"attribute", row.attribute},
                    {"expression", row.expression},
                    {"example", row.example_address},
                    {"count", row.count},
                    {"size", row.size},
                    {"memory", row.memory},
                    {"array_data", row.array_data},
                    {"retained", row.retained}});
}

Document holders_document(const std::shared_ptr<const HoldersResult>& result, const char* command,
                          const char* rows_key) {
    Document document{.command = command};
    document.rows_key = rows_key;
    document.rows = rows_of<Datum>(result, &HoldersResult::rows, holder_data);
    document.csv_columns = {"type",  "holder", "attribute", "expression", "example",
                            "count", "size",   "memory",    "array_data", "retained"};
    document.data["total"] = entries({{"groups", result->total_rows},
                                      {"count", result->total_count},
                                      {"size", result->total_size},
                                      {"memory", result->total_memory},
                                      {"array_data", result->total_array_data},
                                      {"without_path", result->without_path}});
    return document;
}

Block path_hint(const HoldersResult& result) {
    return hint(says("why {}", result.rows.front().example_address), "the path to one of the first row");
}

}  // namespace

Document render_why_type(HoldersResult holders, const std::string& type) {
    const auto result = kept(std::move(holders));
    Document document = holders_document(result, "why", "groups");
    document.data["type"] = type;
    if (result->total_count == 0) {
        document.say(line(says("This core has no instance of {}.", TypeName{type})));
        return document;
    }
    Text heading = says("{} {}", Count{result->total_count}, TypeName{type}).bold() +
                   says(", {}", ByteCount{result->total_memory});
    if (result->total_array_data > 0)
        heading += says(", of it {} of array data", ByteCount{result->total_array_data});
    document.say(line(std::move(heading) + ": what keeps them alive"));
    document.say(holders_table(result, false, "why --type " + shell_quoted(type)));
    if (result->without_path > 0)
        document.say(line(how_many(result->without_path, "of them is garbage:", "of them are garbage:") +
                          " no root reaches."));
    if (!result->rows.empty()) document.say(path_hint(*result));
    return document;
}

Document render_by_holder(HoldersResult holders, const std::string& type) {
    const auto result = kept(std::move(holders));
    Document document = holders_document(result, "types", "holders");
    if (result->rows.empty()) {
        document.say(line(says("No root reaches any {} of this core.",
                               type.empty() ? Text("object") : says("object of type {}", TypeName{type}))));
        return document;
    }
    document.say(holders_table(result, true,
                               "types --by-holder" + (type.empty() ? "" : " --type " + shell_quoted(type))));
    document.say(sentence(std::string(retained_legend)));
    document.say(path_hint(*result));
    return document;
}

}  // namespace heapsift
