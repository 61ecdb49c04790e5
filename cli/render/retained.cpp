#include "cli/render/retained.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string retained_text(const RetainedResult& result, const Page& page) {
    if (result.asked == 0) return "This core has none of these.\n";
    using Align = TableColumn::Align;
    const std::string what =
        result.asked == 1 ? "this object" : fmt::format("these {} objects", grouped(result.asked));
    std::string text = bold(page.bytes(result.retained), page.colour) +
                       fmt::format(" would come free if {} went away", what);
    text += result.asked == result.objects
                ? ", and nothing else would go with " + std::string(result.asked == 1 ? "it" : "them") + ".\n"
                : fmt::format(": {}, with what {} alone keep{}.\n", counted(result.objects, "object"),
                              result.asked == 1 ? "it" : "they", result.asked == 1 ? "s" : "");
    Table table({{Align::right, "objects"},
                 {Align::right, sorted_heading("memory", true)},
                 {Align::right, "size"},
                 {Align::left, "type", TableColumn::Fit::middle}});
    for (const RetainedResult::Row& row : result.types)
        table.add({grouped(row.count), page.bytes(row.memory), page.bytes(row.size), type_text(row.name)});
    text += table.text(page.width, page.colour);
    if (result.total_types > result.types.size())
        text += fmt::format("  … {} more types; these are {} of the bytes: add{}\n",
                            grouped(result.total_types - result.types.size()),
                            percent(result.shown_memory, result.retained), all_rows);
    return text;
}

}  // namespace

Answer render_retained(const RetainedResult& result, Redactor&) {
    Answer answer;
    answer.command = "retained";
    answer.rows_key = "types";
    answer.rows = [&result](const RowVisitor& visit) {
        for (const RetainedResult::Row& row : result.types)
            visit({{"name", row.name}, {"count", row.count}, {"memory", row.memory}, {"size", row.size}});
    };
    answer.csv_columns = {"name", "count", "memory", "size"};
    answer.data["asked"] = result.asked;
    answer.data["objects"] = result.objects;
    answer.data["retained"] = result.retained;
    answer.data["retained_size"] = result.retained_size;
    answer.data["total"] = {{"types", result.total_types}};
    answer.text = [&result](const Page& page) { return retained_text(result, page); };
    return answer;
}

}  // namespace heapsift
