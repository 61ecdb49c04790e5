// What could be saved, largest first, each row with the shortest words that mend it.

#include "cli/render/waste.h"

#include "cli/render/duplicates.h"
#include "cli/render/object.h"

namespace heapsift {
namespace {

constexpr std::size_t narrowest_with_fix = 110, fewest_rows_of_waste = 8;

struct SortWords {
    const char* name;      // in JSON
    const char* what;      // in a table, beside the type
    const char* singular;  // "1 list with unused room"
    const char* plural;
    const char* fix;       // in a table: as short as can be
    const char* long_fix;  // in JSON, and of the first row
};

SortWords sort_words(WasteSort sort) {
    switch (sort) {
        case WasteSort::list_room:
            return {"list_room",
                    "unused room",
                    "list with unused room",
                    "lists with unused room",
                    "items = items[:]",
                    "copy the list when it is complete: items = items[:] has no room for more"};
        case WasteSort::dict_room:
            return {"dict_room",
                    "unused room",
                    "dict with unused room",
                    "dicts with unused room",
                    "d = dict(d.items())",
                    "make the dict anew after many deletions: d = dict(d.items()); a dict never shrinks"};
        case WasteSort::set_room:
            return {"set_room",
                    "unused room",
                    "set with unused room",
                    "sets with unused room",
                    "s = set(s)",
                    "make the set anew after many removals: s = set(s); a set never shrinks"};
        case WasteSort::bytearray_room:
            return {"bytearray_room",
                    "unused room",
                    "bytearray with unused room",
                    "bytearrays with unused room",
                    "b = bytes(b)",
                    "copy what is in use: b = bytes(b), or bytearray(b)"};
        case WasteSort::instance_dicts:
            return {"instance_dicts",
                    "a __dict__ each",
                    "instance with a __dict__",
                    "instances with a __dict__",
                    "__slots__",
                    "give the class, and each class it is derived from, __slots__ with the names of its "
                    "attributes "
                    "(of a dataclass: slots=True)"};
        case WasteSort::boxed_floats:
            return {"boxed_floats",
                    "floats as objects",
                    "list of floats",
                    "lists of floats",
                    "array.array('d')",
                    "hold the numbers in array.array('d', …) or numpy.array: 8 bytes each, and no objects"};
        case WasteSort::boxed_ints:
            return {"boxed_ints",
                    "ints as objects",
                    "list of ints",
                    "lists of ints",
                    "array.array('q')",
                    "hold the numbers in array.array('q', …) or numpy.array: at most 8 bytes each, and no "
                    "objects"};
        case WasteSort::boxed_bools:
            return {"boxed_bools",
                    "bools by pointer",
                    "list of bools",
                    "lists of bools",
                    "bytearray",
                    "hold them in a bytearray or numpy.array(…, dtype=bool): a byte each, not a pointer"};
        case WasteSort::duplicates:
            return {"duplicates",
                    "equal values",
                    "equal value",
                    "equal values",
                    "share them",
                    "have one copy of each value; for values, holders and fixes: heapsift duplicates"};
        case WasteSort::arrays:
            break;
    }
    return {"arrays",
            "wider than needed",
            "array that needs fewer bytes",
            "arrays that need fewer bytes",
            "a smaller dtype",
            "use a smaller dtype, or one value that is broadcast; array by array: heapsift arrays --waste"};
}

/// "1,200 lists with unused room", "5,000 app.Node with a __dict__".
Text waste_words(const WasteRow& row) {
    const SortWords words = sort_words(row.sort);
    if (row.sort == WasteSort::instance_dicts)
        return says("{} {} with a __dict__", Count{row.count}, TypeName{row.type});
    return how_many(row.count, words.singular, words.plural);
}

Block waste_table(const std::shared_ptr<const WasteResult>& result) {
    using Fit = TextColumn::Fit;
    TableBlock table;
    table.columns = {right("memory"), right(at_least() + "saves", true), right("objects"),
                     left("what"),    left("type", Fit::middle),         left("held as", Fit::middle),
                     left("fix")};
    table.columns.back().narrow_page = narrowest_with_fix;
    table.fewest = fewest_rows_of_waste;
    table.rows = rows_of<TableRow>(result, &WasteResult::rows, [](const WasteRow& row) {
        const SortWords words = sort_words(row.sort);
        return TableRow{.cells = {ByteCount{row.bytes}, ByteCount{row.saves}, Count{row.count}, words.what,
                                  TypeName{row.type}, held_as_words(row.holder), words.fix},
                        .bytes = row.saves};
    });
    table.rest = TableRest{.rows = result->total_rows,
                           .singular = {},
                           .bytes = {},
                           .all = CommandLine{std::string("waste") + all_rows}};
    return {std::move(table)};
}

Datum waste_data(const WasteRow& row) {
    const SortWords words = sort_words(row.sort);
    return entries({{"kind", words.name},
                    {"type", or_null(row.type)},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"saves", row.saves},
                    {"holder", or_null(row.holder.holder)},
                    {"attribute", or_null(row.holder.attribute)},
                    {"example", row.example_address},
                    {"fix", words.long_fix}});
}

CommandLine next_of(const WasteRow& row) {
    if (row.sort == WasteSort::duplicates) return {"duplicates"};
    if (row.sort == WasteSort::arrays) return {"arrays --waste"};
    return {};
}

}  // namespace

Document render_waste(WasteResult waste) {
    const auto result = kept(std::move(waste));
    Document document{.command = "waste"};
    document.rows_key = "waste";
    document.rows = rows_of<Datum>(result, &WasteResult::rows, waste_data);
    document.csv_columns = {"kind",   "type",      "count",   "bytes", "saves",
                            "holder", "attribute", "example", "fix"};
    document.data["total"] = entries({{"rows", result->total_rows}, {"saves", result->total_saves}});
    if (result->rows.empty()) {
        document.say(sentence(
            says("Nothing here wastes {} or more: no unused room, no boxed numbers, no equal values.",
                 ByteCount{least_waste})));
        document.say(hint("types"));
        return document;
    }
    const WasteRow& first = result->rows.front();
    document.say(
        sentence(says("The largest saving is {}: {}, held as {}.", at_least() + ByteCount{first.saves},
                      waste_words(first), held_as_words(first.holder))
                     .bold()));
    document.say(waste_table(result));
    document.say(sentence("Rows overlap where they tell of the same objects; do not add them up."));
    document.say(sentence(says("fix for the first: {}", sort_words(first.sort).long_fix)));
    if (const CommandLine next = next_of(first); !next.words.empty())
        document.say(hint(next.words, "one by one"));
    else
        document.say(hint(says("why {}", first.example_address), "the path to one of the first row"));
    return document;
}

}  // namespace heapsift
