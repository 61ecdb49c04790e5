#include "cli/render/holders.h"

#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/render/types.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string held_as(const HolderRow& row) {
    std::string text = escape_for_terminal(row.holder);
    if (row.attribute.empty()) return text;
    if (!row.joined && !row.nameless) text += ".";
    return text + escape_for_terminal(row.attribute);
}

std::string retained_text(const HolderRow& row, const Page& page) {
    return row.retained ? page.bytes(*row.retained) : "";
}

Table holders_table(const std::vector<HolderRow>& rows, bool with_types, const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    bool arrays = false;
    for (const HolderRow& row : rows) arrays = arrays || row.array_data > 0;
    std::vector<TableColumn> columns{{Align::right, "objects"}, {Align::right, "memory"}};
    if (arrays) columns.push_back({Align::right, "array data"});
    columns.push_back({Align::right, sorted_heading(page.about("retained"), true)});
    if (with_types) columns.push_back({Align::left, "type", Fit::middle});
    columns.push_back({Align::left, "held as", Fit::middle});
    if (!with_types) columns.push_back({Align::left, "for example", Fit::end});
    Table table(std::move(columns));
    for (const HolderRow& row : rows) {
        std::vector<std::string> cells{grouped(row.count), page.bytes(row.memory)};
        if (arrays) cells.push_back(array_data_text(row.array_data, page));
        cells.push_back(retained_text(row, page));
        if (with_types) cells.push_back(type_text(row.type_name));
        cells.push_back(held_as(row));
        if (!with_types) cells.push_back(escape_for_terminal(row.expression));
        table.add(std::move(cells));
    }
    return table;
}

std::string more_text(const HoldersResult& result, const std::string& command, const Page& page) {
    if (result.total_rows <= result.rows.size()) return {};
    return wrapped_with_tail(fmt::format("… {} more.", grouped(result.total_rows - result.rows.size())),
                             "All: " + page.command(command + all_rows), page.width, 2) +
           "\n";
}

Json holder_json(const HolderRow& row) {
    return {{"type", row.type_name},
            {"holder", row.holder},
            {"attribute", row.attribute},
            {"expression", row.expression},
            {"example", nullptr},
            {"count", row.count},
            {"size", row.size},
            {"memory", row.memory},
            {"array_data", row.array_data},
            {"retained", or_null(row.retained)}};
}

Json total_json(const HoldersResult& result) {
    return {{"groups", result.total_rows},
            {"count", result.total_count},
            {"size", result.total_size},
            {"memory", result.total_memory},
            {"array_data", result.total_array_data},
            {"without_path", result.without_path}};
}

Answer holders_answer(const HoldersResult& result, const char* command, const char* rows_key) {
    Answer answer;
    answer.command = command;
    answer.rows_key = rows_key;
    answer.rows = [&result](const RowVisitor& visit) {
        for (const HolderRow& row : result.rows) {
            Json json = holder_json(row);
            json["example"] = address_json(row.example_address);
            visit(json);
        }
    };
    answer.csv_columns = {"type",  "holder", "attribute", "expression", "example",
                          "count", "size",   "memory",    "array_data", "retained"};
    answer.data["total"] = total_json(result);
    return answer;
}

}  // namespace

Answer render_why_type(const HoldersResult& result, const std::string& type, Redactor&) {
    Answer answer = holders_answer(result, "why", "groups");
    answer.data["type"] = type;
    answer.text = [&result, type](const Page& page) {
        std::string text =
            bold(fmt::format("{} {}", grouped(result.total_count), type_text(type)), page.colour);
        if (result.total_count == 0) return "This core has no instance of " + type_text(type) + ".\n";
        text += fmt::format(", {}", page.bytes(result.total_memory));
        if (result.total_array_data > 0)
            text += fmt::format(", of it {} of array data", page.bytes(result.total_array_data));
        text += ": what keeps them alive\n";
        if (!result.rows.empty())
            text += holders_table(result.rows, false, page).text(page.width, page.colour);
        text += more_text(result, "why --type " + shell_quoted(type), page);
        if (result.without_path > 0)
            text += fmt::format("{} no root reaches.\n",
                                counted(result.without_path, "of them is garbage:", "of them are garbage:"));
        if (result.rows.empty()) return text;
        return text + next_line(page, "why " + hexadecimal(result.rows.front().example_address.value),
                                "the path to one of the first row");
    };
    return answer;
}

Answer render_by_holder(const HoldersResult& result, const std::string& type, Redactor&) {
    Answer answer = holders_answer(result, "types", "holders");
    answer.text = [&result, type](const Page& page) {
        const std::string what = type.empty() ? std::string("object") : "object of type " + type_text(type);
        if (result.rows.empty()) return "No root reaches any " + what + " of this core.\n";
        std::string text = holders_table(result.rows, true, page).text(page.width, page.colour);
        text += more_text(result, "types --by-holder" + (type.empty() ? "" : " --type " + shell_quoted(type)),
                          page);
        text += wrapped(std::string(retained_legend), page.width, 2) + "\n";
        return text + next_line(page, "why " + hexadecimal(result.rows.front().example_address.value),
                                "the path to one of the first row");
    };
    return answer;
}

}  // namespace heapsift
