// Arrays: a summary of owners, then tables of owners, views, or holders.

#include "cli/render/arrays.h"

#include "cli/render/array.h"
#include "cli/render/object.h"
#include "cli/render/pandas_frames.h"
#include "cli/render/path.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

using ColumnAlign = TableColumn::Align;
using ColumnFit = TableColumn::Fit;

// "numpy.ndarray (463, 32, 32, 3) float64", "bytes", "native memory".
std::string owner_words(const ArrayOwnerRow& row, const Page& page) {
    if (!row.object) return "native memory";
    const std::string type = type_text(row.object->type);
    return row.is_array ? type + " " + value_text(*row.object, page.redact()) : type;
}

// --- JSON

Json array_json(const ShownArray& row, Redactor& redactor) {
    Json json = object_json(row.object, redactor);
    add_array(json, row.array);
    json["owner_nbytes"] = row.owner.owner.nbytes();
    json["saved"] = row.owner.owner.saved;
    return json;
}

Json owner_json(const ArrayOwnerRow& row, bool with_place, Redactor& redactor) {
    const ArrayOwner& owner = row.owner;
    Json json;
    json["owner"] = row.object ? object_json(*row.object, redactor) : Json(nullptr);
    json["nbytes"] = owner.nbytes();
    json["views"] = owner.views;
    json["visible_bytes"] = owner.visible_bytes;
    json["pinned"] = owner.pinned();
    json["kept_by_views"] = owner.kept_by_views;
    json["visible_exact"] = owner.visible_exact;
    json["size_known"] = owner.size_known;
    json["saved"] = owner.saved;
    json["garbage"] = owner.garbage;
    json["data"] = address_json(Address(owner.bytes.begin));
    if (!row.object) json["lent_to"] = address_json(row.address);
    if (!with_place) return json;
    json["example"] = row.example ? address_json(*row.example) : Json(nullptr);
    const std::string expression = expression_of(row.place.expression, redactor);
    json["expression"] = expression.empty() ? Json(nullptr) : Json(expression);
    json["root"] = row.place.root.empty() ? Json(nullptr) : Json(row.place.root);
    return json;
}

Json holder_json(const ArrayHolderRow& row) {
    Json json{{"holder", row.holder},
              {"attribute", row.attribute},
              {"frame_type", row.frame_type.empty() ? Json(nullptr) : Json(row.frame_type)},
              {"arrays", row.arrays},
              {"nbytes", row.nbytes},
              {"shown_bytes", row.shown_bytes},
              {"pinned_bytes", row.pinned_bytes},
              {"pinned_visible_bytes", row.pinned_visible},
              {"pinned_owners", row.pinned_owners},
              {"kept_bytes", row.kept_bytes},
              {"expression", row.expression},
              {"root", row.root},
              {"example", address_json(row.example_address)},
              {"dominator", nullptr}};
    if (row.dominator)
        json["dominator"] =
            row.dominator_words.empty() ? address_json(row.dominator_address) : Json(row.dominator_words);
    return json;
}

Json sums_json(const ArraySums& sums) {
    return {{"arrays", sums.arrays},
            {"views", sums.views},
            {"view_bytes", sums.view_bytes},
            {"scalars", sums.scalars},
            {"owners", sums.owners},
            {"owned_bytes", sums.owned_bytes},
            {"array_owners", sums.array_owners},
            {"array_owned_bytes", sums.array_owned_bytes},
            {"native_owners", sums.native_owners},
            {"native_bytes", sums.native_bytes},
            {"not_saved", sums.not_saved},
            {"not_saved_bytes", sums.not_saved_bytes},
            {"kept_by_views", sums.kept_by_views},
            {"garbage_owners", sums.garbage},
            {"garbage_bytes", sums.garbage_bytes},
            {"pinned_owners", sums.pinned},
            {"pinned_bytes", sums.pinned_bytes},
            {"pinned_visible_bytes", sums.pinned_visible},
            {"pinned_views", sums.pinned_views},
            {"unread", sums.unread}};
}

// --- text

std::string none_text(const Page& page) {
    const char* where = page.lower_bounds ? "what is left of this core" : "this core";
    return wrapped(fmt::format("There are no NumPy arrays in {}.", where), page.width, 2) + "\n";
}

/// What is garbage is not pinned: the collector, or nobody, will free it.
std::string garbage_text(const ArraySums& sums, const Page& page) {
    if (sums.garbage == 0) return {};
    return wrapped_with_tail(fmt::format("{}, {}, {} garbage.", counted(sums.garbage, "owner"),
                                         page.bytes(sums.garbage_bytes), sums.garbage == 1 ? "is" : "are"),
                             page.command("cycles"), page.width, 2) +
           "\n";
}

std::string pinned_sentence(const ArraySums& sums, const Page& page) {
    if (sums.pinned == 0) return "No slice keeps alive what nobody sees: 0 pinned.";
    return fmt::format("{} {} and {} {} alive: {} pinned, since nothing else holds {}.",
                       counted(sums.pinned_views, "slice shows", "slices show"),
                       page.bytes(sums.pinned_visible), sums.pinned_views == 1 ? "keeps" : "keep",
                       page.bytes(sums.pinned_bytes), counted(sums.pinned, "owner is", "owners are"),
                       sums.pinned == 1 ? "it" : "them");
}

/// No more than `shown` rows, 0: all.
std::string holders_table(const ArrayHolders& holders, std::size_t shown, bool pinned, const Page& page) {
    std::span<const ArrayHolderRow> rows(holders.rows);
    if (shown > 0) rows = rows.first(std::min(shown, rows.size()));
    bool any_pinned = pinned;
    for (const ArrayHolderRow& row : rows) any_pinned = any_pinned || row.pinned_owners > 0;
    std::vector<TableColumn> columns{{ColumnAlign::right, "arrays"},
                                     {ColumnAlign::right, "they show"},
                                     {ColumnAlign::right, sorted_heading("they keep", !pinned)}};
    if (any_pinned) columns.push_back({ColumnAlign::right, sorted_heading("unseen", pinned)});
    columns.push_back({ColumnAlign::left, "held as", ColumnFit::middle});
    columns.push_back({ColumnAlign::left, pinned ? "from" : "for example", ColumnFit::end});
    Table table(std::move(columns));
    for (const ArrayHolderRow& row : rows) {
        std::vector<std::string> cells{grouped(row.arrays), page.bytes(row.shown_bytes),
                                       page.bytes(row.kept_bytes)};
        if (any_pinned) cells.push_back(row.unseen_bytes() == 0 ? "–" : page.bytes(row.unseen_bytes()));
        cells.push_back(held_as_text(row));
        cells.push_back(escape_for_terminal(pinned ? row.root : row.expression));
        table.add(std::move(cells));
    }
    return table.text(page.width, page.colour);
}

/// Rows that hang below one node: once for all of them.
std::string common_text(const std::optional<CommonHolder>& common, const Page& page) {
    if (!common) return {};
    std::string words = common->words;
    if (common->object) {
        const std::string expression = expression_of(common->expression, page.redact());
        const std::string value = value_text(*common->object, page.redact());
        const std::string type = type_text(common->object->type);
        words = (expression.empty() ? hexadecimal(common->object->address.value) : expression) + ", " +
                (value.starts_with(type) ? value : type + " " + value) + ",";
    }
    return wrapped(
               fmt::format(
                   "{} rows hang below one object: without {} all of their arrays would go; it retains {}.",
                   grouped(common->rows), escape_for_terminal(words), page.bytes(common->retained)),
               page.width, 2) +
           "\n";
}

std::string more_text(std::uint64_t total, std::size_t shown, const std::string& command, const Page& page) {
    if (total <= shown) return {};
    return wrapped_with_tail(fmt::format("… {} more.", grouped(total - shown)),
                             "All: " + page.command(command + all_rows), page.width, 2) +
           "\n";
}

std::string sorts_table(const std::vector<ArrayOwnerSort>& sorts, const Page& page) {
    Table table({{ColumnAlign::right, "owners"},
                 {ColumnAlign::right, "bytes"},
                 {ColumnAlign::right, "views"},
                 {ColumnAlign::left, "", ColumnFit::middle}});
    for (const ArrayOwnerSort& sort : sorts)
        table.add({grouped(sort.owners), page.bytes(sort.bytes), grouped(sort.views), type_text(sort.name)});
    return table.text(page.width, page.colour);
}

std::string summary_text(const ArraysResult& result, const Page& page) {
    const ArraySums& sums = result.table.sums;
    if (sums.arrays == 0) return none_text(page);
    std::string head = page.at_least(fmt::format(
        "{}: {} own their elements, {} of them are views. {} of data", counted(sums.arrays, "array"),
        grouped(sums.arrays - sums.views), grouped(sums.views), page.bytes(sums.owned_bytes)));
    if (sums.not_saved > 0)
        head += fmt::format(", {} of it not in the core", page.bytes(sums.not_saved_bytes));
    std::string text = bold(wrapped(head + ".", page.width, 2), page.colour) + "\n";
    text += sorts_table(result.sorts, page);
    text += wrapped(pinned_sentence(sums, page), page.width, 2) + "\n" + garbage_text(sums, page);
    if (sums.scalars > 0)
        text += wrapped(fmt::format("{} (numpy.void) of structured arrays keep them as slices do.",
                                    counted(sums.scalars, "element")),
                        page.width, 2) +
                "\n";
    const ArrayHolders& holders = result.holders;
    text += holders_table(holders, most_holders_in_summary, false, page);
    text += more_text(holders.total_rows, std::min(holders.rows.size(), most_holders_in_summary),
                      "arrays --by-holder", page);
    text += common_text(result.common, page);
    text += frames_text(result.frames, result.frame_count, page);
    text += dropped_text(result.dropped, page);
    if (sums.pinned > 0) return text + next_line(page, "arrays --pinned", "which slices keep what");
    if (result.holders.rows.empty()) return text + next_line(page, "arrays --owners");
    return text + next_line(page, "why " + hexadecimal(result.holders.rows.front().example_address.value),
                            "the path to one of the first row");
}

std::string owners_text(const ArraysResult& result, const ArraysRows& rows, const Page& page) {
    const ArraySums& sums = result.table.sums;
    const bool pinned = result.query.only_pinned;
    if (sums.arrays == 0) return none_text(page);
    std::string text;
    if (pinned)
        text = bold(wrapped(pinned_sentence(sums, page), page.width, 2), page.colour) + "\n" +
               garbage_text(sums, page) + dropped_text(result.dropped, page);
    if (result.owners.empty()) return text;
    if (pinned) {
        text += holders_table(result.holders, 0, true, page);
        text += more_text(result.holders.total_rows, result.holders.rows.size(),
                          "arrays --pinned --by-holder", page);
    }
    Table table({{ColumnAlign::right, sorted_heading(pinned ? "keeps" : "bytes", !pinned)},
                 {ColumnAlign::right, pinned ? "shown" : "seen"},
                 {ColumnAlign::right, "views"},
                 {ColumnAlign::left, "owner"},
                 {ColumnAlign::left, "", ColumnFit::middle},
                 {ColumnAlign::left, pinned ? "kept by" : "held by", ColumnFit::end}});
    std::optional<ArrayOwnerRow> first;
    rows.owners([&](const ArrayOwnerRow& row) {
        if (!first) first = row;
        const std::string expression =
            escape_for_terminal(expression_of(row.place.expression, page.redact()));
        std::string words = owner_words(row, page);
        if (!row.owner.saved) words += " (not in the core)";
        table.add({page.bytes(row.owner.nbytes()),
                   (row.owner.visible_exact ? "" : "≤ ") + page.bytes(row.owner.visible_bytes),
                   grouped(row.owner.views), hexadecimal(row.address.value), words,
                   !expression.empty() || !row.example ? expression : hexadecimal(row.example->value)});
    });
    text += table.text(page.width, page.colour);
    text += more_text(pinned ? sums.pinned : sums.owners, result.owners.size(),
                      pinned ? "arrays --pinned" : "arrays --owners", page);
    if (pinned) text += "cure: store copies, data[i].copy()\n";
    if (!first || !first->example) return text;
    const std::string expression = expression_of(first->place.expression, page.redact());
    const bool typed = !expression.empty() && !page.redact().active();
    return text + next_line(page,
                            "why " + (typed ? shell_quoted(expression) : hexadecimal(first->example->value)),
                            pinned ? "the path to the first slice" : "");
}

std::string views_text(const ArraysResult& result, const ArraysRows& rows, const Page& page) {
    const ArraySums& sums = result.table.sums;
    if (sums.arrays == 0) return none_text(page);
    if (result.arrays.empty()) return "No array of this core is a view: each owns its elements.\n";
    Table table({{ColumnAlign::left, "address"},
                 {ColumnAlign::right, sorted_heading("shows", true)},
                 {ColumnAlign::right, "of"},
                 {ColumnAlign::left, "array", ColumnFit::middle},
                 {ColumnAlign::left, "owner"},
                 {ColumnAlign::left, "", ColumnFit::end}});
    std::string first;
    rows.arrays([&](const ShownArray& row) {
        const std::string address = hexadecimal(row.object.address.value);
        if (first.empty()) first = address;
        table.add({address, page.bytes(row.nbytes), page.bytes(row.owner.owner.nbytes()),
                   value_text(row.object, page.redact()), hexadecimal(row.owner.address.value),
                   owner_words(row.owner, page)});
    });
    std::string text = table.text(page.width, page.colour);
    text += more_text(sums.views, result.arrays.size(), "arrays --views", page);
    return text + next_line(page, "show " + first);
}

std::string by_holder_text(const ArraysResult& result, const Page& page) {
    const ArraySums& sums = result.table.sums;
    const ArrayHolders& holders = result.holders;
    const bool pinned = result.query.only_pinned;
    if (sums.arrays == 0) return none_text(page);
    if (holders.rows.empty())
        return pinned ? pinned_sentence(sums, page) + "\n"
                      : std::string("No root reaches any array of this core.\n");
    std::string text = holders_table(holders, 0, pinned, page);
    text += more_text(holders.total_rows, holders.rows.size(),
                      pinned ? "arrays --pinned --by-holder" : "arrays --by-holder", page);
    if (holders.without_path > 0)
        text +=
            fmt::format("{} no root reaches.\n",
                        counted(holders.without_path, "array more is garbage:", "arrays more are garbage:"));
    text += common_text(result.common, page);
    return text + next_line(page, "why " + hexadecimal(holders.rows.front().example_address.value),
                            "the path to one of the first row");
}

using Rows = std::function<void(const RowVisitor&)>;

Rows array_rows(const ArraysRows& rows, Redactor& redactor) {
    return [rows = rows.arrays, &redactor](const RowVisitor& visit) {
        rows([&](const ShownArray& row) { visit(array_json(row, redactor)); });
    };
}

Rows owner_rows(const ArraysRows& rows, bool with_places, Redactor& redactor) {
    return [rows = rows.owners, with_places, &redactor](const RowVisitor& visit) {
        rows([&](const ArrayOwnerRow& row) { visit(owner_json(row, with_places, redactor)); });
    };
}

Rows holder_rows(const ArraysResult& result) {
    return [&result](const RowVisitor& visit) {
        for (const ArrayHolderRow& row : result.holders.rows) visit(holder_json(row));
    };
}

Rows dropped_frame_rows(const ArraysResult& result, Redactor& redactor) {
    return [&result, &redactor](const RowVisitor& visit) {
        for (const DroppedRow& row : result.dropped.rows) visit(dropped_json(row, redactor));
    };
}

const std::vector<std::string> array_columns = {"address", "type",   "dtype",       "shape",
                                                "strides", "nbytes", "data",        "owns_data",
                                                "base",    "owner",  "owner_nbytes"};

Answer summary_answer(const ArraysResult& result, const ArraysRows& rows, Redactor& redactor) {
    Answer answer;
    answer.rows_key = "arrays";
    answer.rows = array_rows(rows, redactor);
    answer.csv_columns = array_columns;
    answer.more_tables = {{"owners", owner_rows(rows, false, redactor)},
                          {"holders", holder_rows(result)},
                          {"frames",
                           [&result, &redactor](const RowVisitor& visit) {
                               for (const FrameRow& row : result.frames) visit(frame_json(row, redactor));
                           }},
                          {"dropped_frames", dropped_frame_rows(result, redactor)}};
    answer.text = [&result](const Page& page) { return summary_text(result, page); };
    return answer;
}

Answer owners_answer(const ArraysResult& result, const ArraysRows& rows, Redactor& redactor) {
    Answer answer;
    answer.rows_key = "owners";
    answer.rows = owner_rows(rows, true, redactor);
    if (result.query.only_pinned)
        answer.more_tables = {{"dropped_frames", dropped_frame_rows(result, redactor)}};
    answer.csv_columns = {"owner", "nbytes", "views", "visible_bytes", "pinned", "example", "expression"};
    answer.text = [&result, rows](const Page& page) { return owners_text(result, rows, page); };
    return answer;
}

Answer views_answer(const ArraysResult& result, const ArraysRows& rows, Redactor& redactor) {
    Answer answer;
    answer.rows_key = "arrays";
    answer.rows = array_rows(rows, redactor);
    answer.csv_columns = array_columns;
    answer.text = [&result, rows](const Page& page) { return views_text(result, rows, page); };
    return answer;
}

Answer holders_answer(const ArraysResult& result) {
    Answer answer;
    answer.rows_key = "holders";
    answer.rows = holder_rows(result);
    answer.csv_columns = {"holder",     "attribute",    "arrays",  "nbytes",
                          "kept_bytes", "pinned_bytes", "example", "expression"};
    answer.data["total"] = sums_json(result.table.sums);
    answer.data["total"]["holders"] = result.holders.total_rows;
    answer.data["total"]["without_path"] = result.holders.without_path;
    answer.text = [&result](const Page& page) { return by_holder_text(result, page); };
    return answer;
}

}  // namespace

std::string held_as_text(const ArrayHolderRow& row) {
    const bool joined = row.joined || row.attribute.empty();
    return escape_for_terminal(row.holder + (joined ? "" : ".") + row.attribute) +
           (row.frame_type.empty() ? "" : " (" + type_text(short_type_name(row.frame_type)) + ")");
}

Answer render_arrays(const ArraysResult& result, const ArraysRows& rows, Redactor& redactor) {
    const auto chosen = [&] {
        switch (result.query.table) {
            case ArraysQuery::Table::owners:
                return owners_answer(result, rows, redactor);
            case ArraysQuery::Table::views:
                return views_answer(result, rows, redactor);
            case ArraysQuery::Table::holders:
                return holders_answer(result);
            case ArraysQuery::Table::waste:
                return render_array_waste(result, redactor);
            case ArraysQuery::Table::summary:
                break;
        }
        return summary_answer(result, rows, redactor);
    };
    Answer answer = chosen();
    answer.command = "arrays";
    if (!answer.data.contains("total")) answer.data["total"] = sums_json(result.table.sums);
    return answer;
}

}  // namespace heapsift
