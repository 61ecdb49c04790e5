// Arrays: a summary of owners, then tables of owners, views, or holders.

#include "cli/render/arrays.h"

#include "cli/render/array.h"
#include "cli/render/object.h"
#include "cli/render/pandas_frames.h"

#include <algorithm>

namespace heapsift {
namespace {

using Result = std::shared_ptr<const ArraysResult>;
using CellFit = TextColumn::Fit;

// "numpy.ndarray (463, 32, 32, 3) float64", "bytes", "native memory".
Text owner_words(const ArrayOwnerRow& row) {
    if (!row.owner.storage.is_null()) return says("torch storage at {}", row.owner.storage);
    if (!row.object) return "native memory";
    if (!row.is_array) return TypeName{row.object->type};
    return says("{} {}", TypeName{row.object->type}, value_of(*row.object));
}

// --- for programs

Datum array_data(const ShownArray& row) {
    Datum data = object_data(row.object);
    add_array(data, row.array);
    data["owner_nbytes"] = row.owner.owner.nbytes();
    data["saved"] = row.owner.owner.saved;
    return data;
}

Datum owner_data(const ArrayOwnerRow& row, bool with_place) {
    const ArrayOwner& owner = row.owner;
    Datum data = entries({{"owner", row.object ? object_data(*row.object) : Datum()},
                          {"nbytes", owner.nbytes()},
                          {"views", owner.views},
                          {"visible_bytes", owner.visible_bytes},
                          {"pinned", owner.pinned()},
                          {"kept_by_views", owner.kept_by_views},
                          {"visible_exact", owner.visible_exact},
                          {"size_known", owner.size_known},
                          {"saved", owner.saved},
                          {"garbage", owner.garbage},
                          {"data", Address(owner.bytes.begin)}});
    if (!row.object) data["lent_to"] = row.address;
    if (!row.owner.storage.is_null()) data["storage"] = row.owner.storage;
    if (!with_place) return data;
    data["example"] = row.example;
    data["expression"] = or_null(expression_of(row.place.expression));
    data["root"] = or_null(row.place.root);
    return data;
}

Datum dominator_data(const ArrayHolderRow& row) {
    if (!row.dominator) return {};
    return row.dominator_words.empty() ? Datum(row.dominator_address) : Datum(row.dominator_words);
}

Datum array_holder_data(const ArrayHolderRow& row) {
    return entries({{"holder", row.holder},
                    {"attribute", row.attribute},
                    {"frame_type", or_null(row.frame_type)},
                    {"arrays", row.arrays},
                    {"nbytes", row.nbytes},
                    {"shown_bytes", row.shown_bytes},
                    {"pinned_bytes", row.pinned_bytes},
                    {"pinned_visible_bytes", row.pinned_visible},
                    {"pinned_owners", row.pinned_owners},
                    {"kept_bytes", row.kept_bytes},
                    {"expression", row.expression},
                    {"root", row.root},
                    {"example", row.example_address},
                    {"dominator", dominator_data(row)}});
}

Datum sums_data(const ArraySums& sums) {
    return entries({{"arrays", sums.arrays},
                    {"views", sums.views},
                    {"view_bytes", sums.view_bytes},
                    {"scalars", sums.scalars},
                    {"owners", sums.owners},
                    {"owned_bytes", sums.owned_bytes},
                    {"array_owners", sums.array_owners},
                    {"array_owned_bytes", sums.array_owned_bytes},
                    {"native_owners", sums.native_owners},
                    {"native_bytes", sums.native_bytes},
                    {"tensors", sums.tensors},
                    {"tensors_without_bytes", sums.tensors_without_bytes},
                    {"storages", sums.storages},
                    {"storage_bytes", sums.storage_bytes},
                    {"not_saved", sums.not_saved},
                    {"not_saved_bytes", sums.not_saved_bytes},
                    {"kept_by_views", sums.kept_by_views},
                    {"garbage_owners", sums.garbage},
                    {"garbage_bytes", sums.garbage_bytes},
                    {"pinned_owners", sums.pinned},
                    {"pinned_bytes", sums.pinned_bytes},
                    {"pinned_visible_bytes", sums.pinned_visible},
                    {"pinned_views", sums.pinned_views},
                    {"unread", sums.unread}});
}

// --- for people

Block none_block() {
    return sentence(
        says("There are no NumPy arrays in {}.", OfCore{"what is left of this core", "this core"}));
}

/// Garbage is not pinned: a collection will free it, or nothing will.
void say_array_garbage(const ArraySums& sums, Document& document) {
    if (sums.garbage > 0)
        document.say(sentence(says("{}, {}, {} garbage.", how_many(sums.garbage, "owner"),
                                   ByteCount{sums.garbage_bytes}, sums.garbage == 1 ? "is" : "are"),
                              CommandLine{"cycles"}));
}

Text pinned_sums(const ArraySums& sums) {
    if (sums.pinned == 0) return "No array is kept alive only by a small slice of it.";
    return says("{} ({}) {} all that keep{} {} ({}) in memory.", how_many(sums.pinned_views, "slice"),
                ByteCount{sums.pinned_visible}, sums.pinned_views == 1 ? "is" : "are",
                sums.pinned_views == 1 ? "s" : "", how_many(sums.pinned, "whole array"),
                ByteCount{sums.pinned_bytes});
}

/// At most `most` rows (0: all); `command` shows the others.
void say_array_holders(const Result& result, std::size_t most, const char* command, Document& document) {
    const ArrayHolders& holders = result->holders;
    const bool pinned = result->query.only_pinned;
    const std::size_t shown = most == 0 ? holders.rows.size() : std::min(most, holders.rows.size());
    TableBlock table;
    table.columns = {right("arrays"),
                     right("they show"),
                     right("they keep", !pinned),
                     right("unseen", pinned),
                     left("held as", CellFit::middle),
                     left(pinned ? "from" : "for example", CellFit::end)};
    table.columns[3].optional = !pinned;
    table.rows = [result, shown, pinned](const std::function<void(const TableRow&)>& visit) {
        for (std::size_t i = 0; i < shown; ++i) {
            const ArrayHolderRow& row = result->holders.rows[i];
            visit({.cells = {Count{row.arrays}, ByteCount{row.shown_bytes}, ByteCount{row.kept_bytes},
                             array_data_bytes(row.unseen_bytes()), held_as_words(row),
                             pinned ? row.root : row.expression}});
        }
    };
    table.rest = TableRest{.rows = holders.total_rows, .all = CommandLine{std::string(command) + all_rows}};
    document.say({std::move(table)});
}

/// What all rows have as a common holder, said once.
void say_common(const std::optional<CommonHolder>& common, Document& document) {
    if (!common) return;
    Text words = common->words;
    if (common->object) {
        const Expression expression = expression_of(common->expression);
        words = says("{}, {},", expression.empty() ? Text(common->object->address) : Text(expression),
                     typed_value(*common->object));
    }
    document.say(sentence(
        says("{} rows hang below one object: without {} all of their arrays would go; it retains {}.",
             Count{common->rows}, words, ByteCount{common->retained})));
}

void say_sorts(const Result& result, Document& document) {
    TableBlock table;
    table.columns = {right("owners"), right("bytes"), right("views"), left("", CellFit::middle)};
    table.rows = rows_of<TableRow>(result, &ArraysResult::sorts, [](const ArrayOwnerSort& sort) {
        return TableRow{.cells = {Count{sort.owners}, ByteCount{sort.bytes}, Count{sort.views}, sort.name}};
    });
    document.say({std::move(table)});
}

Block path_to_first(const ArrayHolders& holders) {
    return hint(says("why {}", holders.rows.front().example_address), "the path to one of the first row");
}

void say_summary(const Result& result, Document& document) {
    const ArraySums& sums = result->table.sums;
    if (sums.arrays == 0) return document.say(none_block());
    Text head = at_least() + says("{}: {} own their elements, {} of them are views. {} of data",
                                  how_many(sums.arrays, "array"), Count{sums.arrays - sums.views},
                                  Count{sums.views}, ByteCount{sums.owned_bytes});
    if (sums.not_saved > 0) head += says(", {} of it not in the core", ByteCount{sums.not_saved_bytes});
    document.say(sentence((std::move(head) + ".").bold()));
    if (sums.tensors > 0)
        document.say(sentence(says("{} of them {} of torch, in {} ({}).", Count{sums.tensors},
                                   sums.tensors == 1 ? "is a tensor" : "are tensors",
                                   how_many(sums.storages, "storage"), ByteCount{sums.storage_bytes})));
    if (sums.tensors_without_bytes > 0)
        document.say(
            sentence(says("{} no elements in this memory: empty, sparse, or on another device.",
                          how_many(sums.tensors_without_bytes, "more tensor has", "more tensors have"))));
    say_sorts(result, document);
    document.say(sentence(pinned_sums(sums)));
    say_array_garbage(sums, document);
    if (sums.scalars > 0)
        document.say(sentence(says("{} (numpy.void) of structured arrays keep them as slices do.",
                                   how_many(sums.scalars, "element"))));
    say_array_holders(result, most_holders_in_summary, "arrays --by-holder", document);
    say_common(result->common, document);
    say_frames(result->frames, result->frame_count, document);
    say_dropped(result->dropped, document);
    document.say(sums.pinned > 0                ? hint("arrays --pinned", "which slices keep what")
                 : result->holders.rows.empty() ? hint("arrays --owners")
                                                : path_to_first(result->holders));
}

TableRow owner_cells(const ArrayOwnerRow& row) {
    const Expression expression = expression_of(row.place.expression);
    Text words = owner_words(row);
    if (!row.owner.saved) words += " (not in the core)";
    return {.cells = {ByteCount{row.owner.nbytes()},
                      says("{}{}", row.owner.visible_exact ? "" : "≤ ", ByteCount{row.owner.visible_bytes}),
                      Count{row.owner.views}, row.address, std::move(words),
                      !expression.empty() || !row.example ? Text(expression) : Text(*row.example)}};
}

void say_owners(const Result& result, const ArraysRows& rows, Document& document) {
    const ArraySums& sums = result->table.sums;
    const bool pinned = result->query.only_pinned;
    if (sums.arrays == 0) return document.say(none_block());
    if (pinned) {
        document.say(sentence(pinned_sums(sums).bold()));
        say_array_garbage(sums, document);
        say_dropped(result->dropped, document);
    }
    if (result->owners.empty()) return;
    if (pinned) say_array_holders(result, 0, "arrays --pinned --by-holder", document);
    TableBlock table;
    table.columns = {right(pinned ? "keeps" : "bytes", !pinned),
                     right(pinned ? "shown" : "seen"),
                     right("views"),
                     left("owner"),
                     left("", CellFit::middle),
                     left(pinned ? "kept by" : "held by", CellFit::end)};
    table.rows = [owners = rows.owners](const std::function<void(const TableRow&)>& visit) {
        owners([&](const ArrayOwnerRow& row) { visit(owner_cells(row)); });
    };
    table.rest =
        TableRest{.rows = pinned ? sums.pinned : sums.owners,
                  .all = CommandLine{std::string(pinned ? "arrays --pinned" : "arrays --owners") + all_rows}};
    document.say({std::move(table)});
    if (pinned)
        document.say(line(sums.tensors > 0
                              ? "fix: store copies, not slices: data[i].copy(); of a tensor data[i].clone()"
                              : "fix: store copies, not slices: data[i].copy()"));
    const ArrayOwnerRow first = rows.first_owner();
    if (first.example)
        document.say(hint(says("why {}", Target{expression_of(first.place.expression), *first.example}),
                          pinned ? "the path to the first slice" : ""));
}

void say_views(const Result& result, const ArraysRows& rows, Document& document) {
    const ArraySums& sums = result->table.sums;
    if (sums.arrays == 0) return document.say(none_block());
    if (result->arrays.empty())
        return document.say(line("No array of this core is a view: each owns its elements."));
    TableBlock table;
    table.columns = {left("address"), right("shows", true),  right("of"), left("array", CellFit::middle),
                     left("owner"),   left("", CellFit::end)};
    table.rows = [arrays = rows.arrays](const std::function<void(const TableRow&)>& visit) {
        arrays([&](const ShownArray& row) {
            visit({.cells = {row.object.address, ByteCount{row.nbytes}, ByteCount{row.owner.owner.nbytes()},
                             value_of(row.object), row.owner.address, owner_words(row.owner)}});
        });
    };
    table.rest = TableRest{.rows = sums.views, .all = CommandLine{std::string("arrays --views") + all_rows}};
    document.say({std::move(table)});
    document.say(hint(says("show {}", rows.first_array().object.address)));
}

void say_by_holder(const Result& result, Document& document) {
    const ArraySums& sums = result->table.sums;
    const ArrayHolders& holders = result->holders;
    const bool pinned = result->query.only_pinned;
    if (sums.arrays == 0) return document.say(none_block());
    if (holders.rows.empty())
        return document.say(
            line(pinned ? pinned_sums(sums) : Text("No root reaches any array of this core.")));
    say_array_holders(result, 0, pinned ? "arrays --pinned --by-holder" : "arrays --by-holder", document);
    if (holders.without_path > 0)
        document.say(
            line(how_many(holders.without_path, "array more is garbage:", "arrays more are garbage:") +
                 " no root reaches."));
    say_common(result->common, document);
    document.say(path_to_first(holders));
}

// --- both

RowsOf<Datum> array_rows(const ArraysRows& rows) {
    return [arrays = rows.arrays](const std::function<void(const Datum&)>& visit) {
        arrays([&](const ShownArray& row) { visit(array_data(row)); });
    };
}

RowsOf<Datum> owner_rows(const ArraysRows& rows, bool with_places) {
    return [owners = rows.owners, with_places](const std::function<void(const Datum&)>& visit) {
        owners([&](const ArrayOwnerRow& row) { visit(owner_data(row, with_places)); });
    };
}

RowsOf<Datum> array_holder_rows(const Result& result) {
    return [result](const std::function<void(const Datum&)>& visit) {
        for (const ArrayHolderRow& row : result->holders.rows) visit(array_holder_data(row));
    };
}

RowsOf<Datum> dropped_frame_rows(const Result& result) {
    return [result](const std::function<void(const Datum&)>& visit) {
        for (const DroppedRow& row : result->dropped.rows) visit(dropped_data(row));
    };
}

const std::vector<std::string> array_columns = {"address", "type",   "dtype",       "shape",
                                                "strides", "nbytes", "data",        "owns_data",
                                                "base",    "owner",  "owner_nbytes"};

Document summary_document(const Result& result, const ArraysRows& rows) {
    Document document;
    document.rows_key = "arrays";
    document.rows = array_rows(rows);
    document.csv_columns = array_columns;
    document.more_tables = {{"owners", owner_rows(rows, false)},
                            {"holders", array_holder_rows(result)},
                            {"frames", rows_of<Datum>(result, &ArraysResult::frames, frame_data)},
                            {"dropped_frames", dropped_frame_rows(result)}};
    say_summary(result, document);
    return document;
}

Document owners_document(const Result& result, const ArraysRows& rows) {
    Document document;
    document.rows_key = "owners";
    document.rows = owner_rows(rows, true);
    if (result->query.only_pinned) document.more_tables = {{"dropped_frames", dropped_frame_rows(result)}};
    document.csv_columns = {"owner", "nbytes", "views", "visible_bytes", "pinned", "example", "expression"};
    say_owners(result, rows, document);
    return document;
}

Document views_document(const Result& result, const ArraysRows& rows) {
    Document document;
    document.rows_key = "arrays";
    document.rows = array_rows(rows);
    document.csv_columns = array_columns;
    say_views(result, rows, document);
    return document;
}

Document array_holders_document(const Result& result) {
    Document document;
    document.rows_key = "holders";
    document.rows = array_holder_rows(result);
    document.csv_columns = {"holder",     "attribute",    "arrays",  "nbytes",
                            "kept_bytes", "pinned_bytes", "example", "expression"};
    document.data["total"] = sums_data(result->table.sums);
    document.data["total"]["holders"] = result->holders.total_rows;
    document.data["total"]["without_path"] = result->holders.without_path;
    say_by_holder(result, document);
    return document;
}

Document chosen(const Result& result, const ArraysRows& rows) {
    switch (result->query.table) {
        case ArraysQuery::Table::owners:
            return owners_document(result, rows);
        case ArraysQuery::Table::views:
            return views_document(result, rows);
        case ArraysQuery::Table::holders:
            return array_holders_document(result);
        case ArraysQuery::Table::waste:
            return render_array_waste(result);
        case ArraysQuery::Table::summary:
            break;
    }
    return summary_document(result, rows);
}

}  // namespace

Text held_as_words(const ArrayHolderRow& row) {
    const bool joined = row.joined || row.attribute.empty();
    Text text = row.holder + (joined ? "" : ".") + row.attribute;
    if (!row.frame_type.empty()) text += says(" ({})", TypeName{short_type_name(row.frame_type)});
    return text;
}

Document render_arrays(const std::shared_ptr<const ArraysResult>& result, const ArraysRows& rows) {
    Document document = chosen(result, rows);
    document.command = "arrays";
    if (!document.data.find("total")) document.data["total"] = sums_data(result->table.sums);
    return document;
}

}  // namespace heapsift
