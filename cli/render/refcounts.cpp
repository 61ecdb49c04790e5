// Reference counts: the sum, a table of types, and single objects with what holds them.

#include "cli/render/refcounts.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

constexpr std::size_t most_types = 12, most_objects = 12, most_deficits = 5;

std::string sentence(const RefcountsResult& result) {
    if (result.checked == 0) return "This core has none of these that counts its references.";
    std::string text =
        fmt::format("{} count {}; {} were found in Python's own memory.", counted(result.checked, "object"),
                    counted(result.counted, "reference"), grouped(result.accounted));
    if (result.objects == 0)
        text += " No object counts more than was found.";
    else
        text += fmt::format(
            " {} in excess on {}: C code holds them, or they leaked. For {} of these a word was found that "
            "may be the holder.",
            result.excess == 1 ? "1 is" : grouped(result.excess) + " are", counted(result.objects, "object"),
            percent(result.explained, result.excess));
    if (result.leaked > 0)
        text += fmt::format(" {} {}: no other word of the saved memory is the object's address.",
                            grouped(result.leaked), result.leaked == 1 ? "leaked" : "of them leaked");
    if (result.immortal > 0)
        text += fmt::format(" {} more are immortal, and count none.", grouped(result.immortal));
    return text;
}

std::string types_text(const std::vector<RefcountType>& types, bool deficits, const Page& page) {
    using Align = TableColumn::Align;
    std::vector<TableColumn> columns{{Align::right, "objects"},
                                     {Align::right, deficits ? "too many" : sorted_heading("excess", true)}};
    if (!deficits) columns.push_back({Align::right, "held by C code"});
    columns.push_back({Align::left, "type", TableColumn::Fit::middle});
    Table table(std::move(columns));
    const std::size_t most = deficits ? most_deficits : most_types;
    for (std::size_t i = 0; i < std::min(most, types.size()); ++i) {
        std::vector<std::string> cells{grouped(types[i].objects),
                                       grouped(static_cast<std::uint64_t>(std::abs(types[i].excess)))};
        if (!deficits) cells.push_back(grouped(types[i].explained));
        cells.push_back(type_text(types[i].name));
        table.add(std::move(cells));
    }
    std::string text = table.text(page.width, page.colour);
    if (types.size() > most)
        text += fmt::format("  … {} more types: --json has all\n", grouped(types.size() - most));
    return text;
}

std::string holders_text(const RefcountRow& row) {
    std::string text;
    for (const RefcountHolder& holder : row.holders) {
        if (!text.empty()) text += ", ";
        text += holder.place + " " + hexadecimal(holder.word.value);
        if (text.size() > 120) break;
    }
    const std::int64_t open = row.excess - static_cast<std::int64_t>(row.holders.size()) - row.leaked;
    if (row.leaked > 0)
        text += (text.empty() ? "" : ", ") +
                (row.leaked == 1 ? "nobody: it leaked" : fmt::format("nobody: {} leaked", row.leaked));
    if (open > 0) text += (text.empty() ? "" : ", ") + fmt::format("{} not found", grouped_signed(open));
    return escape_for_terminal(text);
}

std::string objects_text(const std::vector<RefcountRow>& rows, const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    Table table({{Align::left, "address"},
                 {Align::right, "counted"},
                 {Align::right, "found"},
                 {Align::left, "type", Fit::middle},
                 {Align::left, "value", Fit::end},
                 {Align::left, "the rest is held by", Fit::wrap}});
    for (const RefcountRow& row : rows) {
        table.add({hexadecimal(row.object.address.value), refcount_text(row.object.facts),
                   grouped_signed(row.accounted), type_text(row.object.type),
                   value_text(row.object, page.redact()), holders_text(row)});
    }
    return table.text(page.width, page.colour);
}

std::string deficit_sentence(const RefcountsResult& result) {
    std::string text = fmt::format("On {} {} found than counted", counted(result.deficit_objects, "object"),
                                   counted(result.deficit, "reference more was", "references more were"));
    if (result.deficit_explained == result.deficit)
        return text + ": static objects refer to them, as they were compiled, and do not count.";
    if (result.deficit_explained > 0)
        text += fmt::format(" ({} by static objects, which do not count)", grouped(result.deficit_explained));
    return text + ": pointers that are not held, or bytes that changed while the core was written.";
}

std::string refcounts_text(const RefcountsResult& result, const Page& page) {
    std::string text = wrapped(sentence(result), page.width, 2) + "\n";
    if (result.objects > 0) {
        text += types_text(result.types, false, page);
        text += bold("single objects", page.colour) + ": those first whose holder was not found\n";
        const std::size_t shown = std::min(most_objects, result.rows.size());
        text += objects_text({result.rows.begin(), result.rows.begin() + static_cast<std::ptrdiff_t>(shown)},
                             page);
        if (result.objects > shown)
            text += fmt::format("  … {} more. All: --json; of one type: --type NAME\n",
                                grouped(result.objects - shown));
    }
    if (result.deficit_objects > 0)
        text += wrapped(deficit_sentence(result), page.width, 2) + "\n" +
                types_text(result.deficit_types, true, page);
    const std::string next =
        result.rows.empty() ? "types" : "referrers " + hexadecimal(result.rows.front().object.address.value);
    return text + next_line(page, next, result.rows.empty() ? "" : "the references that were found");
}

Json types_json(const std::vector<RefcountType>& types) {
    Json json = Json::array();
    for (const RefcountType& row : types)
        json.push_back({{"name", row.name},
                        {"objects", row.objects},
                        {"excess", row.excess},
                        {"explained", row.explained},
                        {"leaked", row.leaked}});
    return json;
}

Json row_json(const RefcountRow& row, Redactor& redactor) {
    Json json = object_json(row.object, redactor);
    json["accounted"] = row.accounted;
    json["excess"] = row.excess;
    json["leaked"] = row.leaked;
    json["holders"] = Json::array();
    for (const RefcountHolder& holder : row.holders)
        json["holders"].push_back({{"word", address_json(holder.word)}, {"place", holder.place}});
    return json;
}

}  // namespace

Answer render_refcounts(const RefcountsResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "refcounts";
    answer.certain = !result.guesses;
    answer.rows_key = "objects";
    answer.rows = [&result, &redactor](const RowVisitor& visit) {
        for (const RefcountRow& row : result.rows) visit(row_json(row, redactor));
    };
    answer.csv_columns = {"address", "type", "refcount", "accounted", "excess", "value"};
    answer.data["by_type"] = types_json(result.types);
    answer.data["deficits"] = Json::array();
    for (const RefcountRow& row : result.deficits) answer.data["deficits"].push_back(row_json(row, redactor));
    answer.data["deficits_by_type"] = types_json(result.deficit_types);
    answer.data["total"] = {{"checked", result.checked},     {"balanced", result.balanced},
                            {"immortal", result.immortal},   {"counted", result.counted},
                            {"accounted", result.accounted}, {"objects", result.objects},
                            {"excess", result.excess},       {"explained", result.explained},
                            {"leaked", result.leaked},       {"deficit_objects", result.deficit_objects},
                            {"deficit", result.deficit},     {"deficit_explained", result.deficit_explained}};
    answer.text = [&result](const Page& page) { return refcounts_text(result, page); };
    return answer;
}

}  // namespace heapsift
