// heapsift arrays --waste: arrays that would do with fewer bytes.

#include "cli/render/arrays.h"

#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

const char* kind_name(WasteKind kind) {
    switch (kind) {
        case WasteKind::zero:
            return "zero";
        case WasteKind::constant:
            return "constant";
        case WasteKind::smaller_dtype:
            break;
    }
    return "smaller_dtype";
}

/// What values are in it: with --redact nothing of them.
std::string finding_text(const ArrayWaste& row, Redactor& redactor) {
    if (row.kind == WasteKind::zero) return "all zero";
    const std::string range = row.range.empty() || redactor.active() ? std::string() : row.range;
    if (row.kind == WasteKind::constant) return range.empty() ? "one value" : "all " + range;
    return "would fit " + row.suggested + (range.empty() ? "" : ": " + range);
}

std::string waste_text(const ArraysResult& result, const Page& page) {
    const ArrayWasteResult& waste = result.waste;
    std::string text;
    if (result.waste_rows.empty()) {
        text = "No array would do with fewer bytes.\n";
    } else {
        text = bold(wrapped(page.at_least(fmt::format("{} {} and would do with {}.",
                                                      counted(waste.total_rows, "array takes", "arrays take"),
                                                      page.bytes(waste.total_nbytes),
                                                      page.bytes(waste.total_needed))),
                            page.width, 2),
                    page.colour) +
               "\n";
        using Align = TableColumn::Align;
        using Fit = TableColumn::Fit;
        Table table({{Align::right, "takes"},
                     {Align::right, "would do with"},
                     {Align::left, "address"},
                     {Align::left, "array", Fit::middle},
                     {Align::left, "its elements", Fit::end},
                     {Align::left, "held as", Fit::end}});
        for (const ArrayWasteRow& row : result.waste_rows)
            table.add({page.bytes(row.waste.nbytes), page.bytes(row.waste.needed),
                       hexadecimal(row.object.address.value), value_text(row.object, page.redact()),
                       escape_for_terminal(finding_text(row.waste, page.redact())),
                       escape_for_terminal(expression_of(row.expression, page.redact()))});
        text += table.text(page.width, page.colour);
        if (waste.total_rows > result.waste_rows.size())
            text += wrapped_with_tail(
                        fmt::format("… {} more.", grouped(waste.total_rows - result.waste_rows.size())),
                        "All: " + page.command(std::string("arrays --waste") + all_rows), page.width, 2) +
                    "\n";
    }
    if (waste.not_saved > 0)
        text += fmt::format("{} not looked at: their data is not in the core.\n",
                            counted(waste.not_saved, "array was", "arrays were"));
    if (waste.not_read > 0)
        text += fmt::format("{} not looked at: objects, and dtypes that are not read.\n",
                            counted(waste.not_read, "array was", "arrays were"));
    if (result.waste_rows.empty()) return text;
    return text + next_line(page, "why " + hexadecimal(result.waste_rows.front().object.address.value),
                            "who holds the first");
}

}  // namespace

Answer render_array_waste(const ArraysResult& result, Redactor& redactor) {
    const ArrayWasteResult& waste = result.waste;
    Answer answer;
    answer.rows_key = "waste";
    answer.rows = [&result, &redactor](const RowVisitor& visit) {
        for (const ArrayWasteRow& each : result.waste_rows) {
            const ArrayWaste& row = each.waste;
            const std::string expression = expression_of(each.expression, redactor);
            visit({{"array", object_json(each.object, redactor)},
                   {"kind", kind_name(row.kind)},
                   {"dtype", row.dtype},
                   {"suggested", row.suggested.empty() ? Json(nullptr) : Json(row.suggested)},
                   {"nbytes", row.nbytes},
                   {"needed", row.needed},
                   {"range", row.range.empty() || redactor.active() ? Json(nullptr) : Json(row.range)},
                   {"expression", expression.empty() ? Json(nullptr) : Json(expression)}});
        }
    };
    answer.csv_columns = {"array", "kind", "dtype", "suggested", "nbytes", "needed", "range", "expression"};
    answer.data["total"] = {{"arrays", waste.total_rows},   {"nbytes", waste.total_nbytes},
                            {"needed", waste.total_needed}, {"looked_at", waste.looked_at},
                            {"not_saved", waste.not_saved}, {"not_read", waste.not_read}};
    answer.text = [&result](const Page& page) { return waste_text(result, page); };
    return answer;
}

}  // namespace heapsift
