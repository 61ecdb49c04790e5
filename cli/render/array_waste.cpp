// Arrays whose content would fit in fewer bytes.

#include "cli/render/arrays.h"
#include "cli/render/object.h"

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

/// The values in an array; under --redact nothing about them.
Text finding_words(const ArrayWaste& row) {
    if (row.kind == WasteKind::zero) return "all zero";
    if (row.kind == WasteKind::constant)
        return row.range.empty() ? Text("one value") : Text(Withheld{"all " + row.range, "one value"});
    return says("would fit {}{}", row.suggested,
                row.range.empty() ? Text() : Text(Withheld{": " + row.range, std::string()}));
}

void say_waste(const std::shared_ptr<const ArraysResult>& result, Document& document) {
    using Fit = TextColumn::Fit;
    const ArrayWasteResult& waste = result->waste;
    if (result->waste_rows.empty()) return document.say(line("No array would do with fewer bytes."));
    document.say(sentence((at_least() + says("{} {} and would do with {}.",
                                             how_many(waste.total_rows, "array takes", "arrays take"),
                                             ByteCount{waste.total_nbytes}, ByteCount{waste.total_needed}))
                              .bold()));
    TableBlock table;
    table.columns = {right("takes"),
                     right("would do with"),
                     left("address"),
                     left("array", Fit::middle),
                     left("its elements", Fit::end),
                     left("held as", Fit::end)};
    table.rows = rows_of<TableRow>(result, &ArraysResult::waste_rows, [](const ArrayWasteRow& row) {
        return TableRow{.cells = {ByteCount{row.waste.nbytes}, ByteCount{row.waste.needed},
                                  row.object.address, value_of(row.object), finding_words(row.waste),
                                  expression_of(row.expression)}};
    });
    table.rest =
        TableRest{.rows = waste.total_rows, .all = CommandLine{std::string("arrays --waste") + all_rows}};
    document.say({std::move(table)});
}

}  // namespace

Document render_array_waste(const std::shared_ptr<const ArraysResult>& result) {
    const ArrayWasteResult& waste = result->waste;
    Document document{.command = "arrays"};
    document.rows_key = "waste";
    document.rows = rows_of<Datum>(result, &ArraysResult::waste_rows, [](const ArrayWasteRow& each) {
        const ArrayWaste& row = each.waste;
        return entries({{"array", object_data(each.object)},
                        {"kind", kind_name(row.kind)},
                        {"dtype", row.dtype},
                        {"suggested", or_null(row.suggested)},
                        {"nbytes", row.nbytes},
                        {"needed", row.needed},
                        {"range", Withheld{row.range, std::string()}},
                        {"expression", or_null(expression_of(each.expression))}});
    });
    document.csv_columns = {"array", "kind", "dtype", "suggested", "nbytes", "needed", "range", "expression"};
    document.data["total"] = entries({{"arrays", waste.total_rows},
                                      {"nbytes", waste.total_nbytes},
                                      {"needed", waste.total_needed},
                                      {"looked_at", waste.looked_at},
                                      {"not_saved", waste.not_saved},
                                      {"not_read", waste.not_read}});
    say_waste(result, document);
    if (waste.not_saved > 0)
        document.say(line(says("{} not looked at: their data is not in the core.",
                               how_many(waste.not_saved, "array was", "arrays were"))));
    if (waste.not_read > 0)
        document.say(line(says("{} not looked at: objects, and dtypes that are not read.",
                               how_many(waste.not_read, "array was", "arrays were"))));
    if (!result->waste_rows.empty())
        document.say(hint(says("why {}", result->waste_rows.front().object.address), "who holds the first"));
    return document;
}

}  // namespace heapsift
