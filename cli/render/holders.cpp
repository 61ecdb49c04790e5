#include "cli/render/holders.h"

#include "cli/render/object.h"
#include "cli/render/types.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_others_named = 2;

/// Of a row, or of another holder of what is in it.
template <class Holder>
Text held_as(const Holder& holder) {
    Text text = holder.holder;
    if (holder.attribute.empty()) return text;
    if (!holder.joined && !holder.nameless) text += ".";
    return text + holder.attribute;
}

/// The lines below a row: "also app.Index.by_id['*']", "also main().job, 12 of them", "also 3 more".
std::vector<Text> also_held_lines(const HolderRow& row) {
    std::vector<Text> lines;
    if (!row.is_shared) return lines;
    for (const OtherHolder& other : row.also_held_by) {
        if (lines.size() == most_others_named) break;
        lines.push_back("  also " + held_as(other));
        if (other.count < row.count) lines.back() += says(", {} of them", Count{other.count});
    }
    if (row.and_others)
        lines.emplace_back("  also others");
    else if (lines.size() < row.also_held_by.size())
        lines.push_back(says("  also {} more", Count{row.also_held_by.size() - lines.size()}));
    return lines;
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
    table.rows = [result, with_types](const std::function<void(const TableRow&)>& visit) {
        for (const HolderRow& row : result->rows) {
            TableRow cells{.cells = {Count{row.count}, ByteCount{row.memory},
                                     array_data_bytes(row.array_data), bytes_or_blank(row.retained)}};
            if (with_types) cells.cells.emplace_back(TypeName{row.type_name});
            cells.cells.push_back(held_as(row));
            if (!with_types) cells.cells.emplace_back(row.expression);
            visit(cells);
            for (Text& also : also_held_lines(row)) {
                TableRow below{.cells = std::vector<Text>(cells.cells.size())};
                below.cells[with_types ? 5 : 4] = std::move(also);
                visit(below);
            }
        }
    };
    std::size_t lines_below = 0;
    for (const HolderRow& row : result->rows) lines_below += also_held_lines(row).size();
    table.rest = TableRest{.rows = result->total_rows + lines_below,
                           .singular = {},
                           .bytes = {},
                           .all = CommandLine{command + all_rows}};
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
                    {"native", row.native},
                    {"retained", row.retained}});
}

Datum shared_holder_data(const HolderRow& row) {
    Datum data = holder_data(row);
    data["also_held"] = row.also_held;
    data["also_held_by"] = Datum::list_of(row.also_held_by, [](const OtherHolder& other) {
        return entries({{"holder", other.holder}, {"attribute", other.attribute}, {"count", other.count}});
    });
    data["and_others"] = row.and_others;
    return data;
}

Document holders_document(const std::shared_ptr<const HoldersResult>& result, const char* command,
                          const char* rows_key) {
    Document document{.command = command};
    document.rows_key = rows_key;
    document.rows = rows_of<Datum>(result, &HoldersResult::rows, holder_data);
    document.csv_columns = {"type", "holder", "attribute",  "expression", "example", "count",
                            "size", "memory", "array_data", "native",     "retained"};
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

void say_garbage(const HoldersResult& result, Document& document) {
    if (result.without_path > 0)
        document.say(
            hint("cycles", (result.without_path == result.total_count && result.without_path > 1
                                ? says("all {} are garbage: nothing reaches them", Count{result.without_path})
                                : how_many(result.without_path, "of them is garbage: nothing reaches it",
                                           "of them are garbage: nothing reaches them"))));
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
    Text heading = says("{} {}", Count{result->total_count}, type_words(type, result->total_count)).bold() +
                   says(", {}", ByteCount{result->total_memory});
    if (result->total_array_data > 0)
        heading += says(", of it {} of array data", ByteCount{result->total_array_data});
    document.say(line(std::move(heading) + ": what keeps them alive"));
    document.say(holders_table(result, false, "why --type " + shell_quoted(type)));
    say_garbage(*result, document);
    if (!result->rows.empty()) document.say(path_hint(*result));
    return document;
}

Document render_holders(HoldersResult holders, const std::string& command, const std::string& type) {
    const auto result = kept(std::move(holders));
    Document document = holders_document(result, command.c_str(), "holders");
    document.rows = rows_of<Datum>(result, &HoldersResult::rows, shared_holder_data);
    document.csv_columns.emplace_back("also_held");
    if (result->rows.empty()) {
        document.say(line(says("Nothing holds any {} of this core.",
                               type.empty() ? Text("object") : says("object of type {}", TypeName{type}))));
        say_garbage(*result, document);
        return document;
    }
    document.say(
        holders_table(result, true, "holders" + (type.empty() ? "" : " --type " + shell_quoted(type))));
    if (!type.empty()) say_garbage(*result, document);
    if (std::any_of(result->rows.begin(), result->rows.end(),
                    [](const HolderRow& row) { return row.is_shared; }))
        document.say(
            sentence("also: holds the same objects. All their holders must go for them to be freed."));
    document.say(sentence(std::string(retained_legend)));
    const HolderRow& first = result->rows.front();
    if (first.is_shared)
        document.say(hint(
            says("why --paths {} {}", std::to_string(first.also_held_by.size() + 1), first.example_address),
            "the paths to one of the first row"));
    else
        document.say(path_hint(*result));
    return document;
}

}  // namespace heapsift
