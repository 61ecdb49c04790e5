// Native blocks: a sentence, and two tables of the same blocks.

#include "cli/render/native.h"

#include "cli/render/object.h"

namespace heapsift {
namespace {

constexpr std::size_t narrowest_with_sizes = 120;

Text sizes_of(const NativeClassRow& row) {
    return row.smallest == row.largest ? says("{}", Count{row.smallest})
                                       : says("{} to {}", Count{row.smallest}, Count{row.largest});
}

/// "all leaked", "50,000 leaked", "libfoo.so kept", "12,000 by lxml.etree._Element, 3 leaked".
Text held_words(const NativeHeld& held, std::uint64_t count) {
    if (held.leaked == count) return count == 1 ? "nothing: leaked" : "nothing: all leaked";
    const Text by = held.by_type ? Text(TypeName{held.by}) : Text(held.by);
    Text words = held.by_count == count ? by : says("{} by {}", Count{held.by_count}, by);
    if (held.leaked > 0) words += says(", {} leaked", Count{held.leaked});
    return words;
}

TableRow class_cells(const NativeClassRow& row) {
    return {.cells = cells_of(Count{row.count}, ByteCount{row.bytes}, sizes_of(row), row.example,
                              row.named ? Text(TypeName{row.name}) : Text(row.name),
                              held_words(row.held, row.count)),
            .bytes = row.bytes};
}

TableRow size_cells(const NativeSizeRow& row) {
    const Text what = row.of_class.empty() ? Text(row.content) : Text(TypeName{row.of_class});
    return {.cells = cells_of(Count{row.count}, ByteCount{row.bytes}, Count{row.size}, row.example, what,
                              held_words(row.held, row.count)),
            .bytes = row.bytes};
}

Datum held_data(const NativeHeld& held) {
    return held.by.empty() ? Datum()
                           : entries({{"name", held.by}, {"python", held.by_type}, {"count", held.by_count}});
}

Datum class_data(const NativeClassRow& row) {
    return entries({{"name", row.name},
                    {"module", or_null(row.module)},
                    {"named", row.named},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"smallest", row.smallest},
                    {"largest", row.largest},
                    {"example", row.example},
                    {"leaked", row.held.leaked},
                    {"from_python", row.held.by_python},
                    {"held_by", held_data(row.held)}});
}

Datum size_data(const NativeSizeRow& row) {
    return entries({{"size", row.size},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"class", or_null(row.of_class)},
                    {"content", or_null(row.content)},
                    {"example", row.example},
                    {"leaked", row.held.leaked},
                    {"from_python", row.held.by_python},
                    {"held_by", held_data(row.held)}});
}

void say_classes(const std::shared_ptr<const NativeResult>& result, Document& document) {
    if (result->classes.empty()) return;
    TableBlock table;
    table.columns = {right(at_least() + "objects"),
                     right(at_least() + "bytes", true),
                     right("of bytes each"),
                     left("an address"),
                     left("C++ class, or table of functions", TextColumn::Fit::middle),
                     left("found from", TextColumn::Fit::end)};
    table.columns[2].narrow_page = narrowest_with_sizes;
    table.rows = rows_of<TableRow>(result, &NativeResult::classes, class_cells);
    table.rest = TableRest{.rows = result->class_count,
                           .singular = "more class",
                           .bytes = result->of_classes,
                           .all = CommandLine{"native -n 0"}};
    document.say({std::move(table)});
    document.say(gap());
}

Text native_sentence(const NativeResult& result, bool leaked_only) {
    const Text leaked = says("{} of it in {} leaked: no word of the saved memory leads there",
                             ByteCount{result.leaked_bytes}, how_many(result.leaked_count, "block"));
    if (leaked_only)
        return says("{}{} in {} of C code.", at_least(), ByteCount{result.leaked_bytes},
                    how_many(result.leaked_count, "leaked block"));
    Text text =
        says("{}{} in {} of C code", at_least(), ByteCount{result.bytes}, how_many(result.count, "block"));
    if (result.python_bytes > 0)
        text += says("; from Python's memory one gets to {}", ByteCount{result.python_bytes});
    text += ".";
    if (result.leaked_count > 0) text += " " + leaked + ".";
    return text;
}

}  // namespace

Document render_native(NativeResult native, bool leaked_only) {
    const auto result = kept(std::move(native));
    Document document{.command = "native", .certain = false};
    document.rows_key = "sizes";
    document.rows = rows_of<Datum>(result, &NativeResult::sizes, size_data);
    document.csv_columns = {"size",    "count",  "bytes",       "class",  "content",
                            "example", "leaked", "from_python", "held_by"};
    document.data["classes"] = Datum::list_of(result->classes, class_data);
    document.data["total"] = entries({{"count", result->count},
                                      {"bytes", result->bytes},
                                      {"sizes", result->size_count},
                                      {"classes", result->class_count},
                                      {"from_python_bytes", result->python_bytes},
                                      {"leaked_count", result->leaked_count},
                                      {"leaked_bytes", result->leaked_bytes}});
    if (result->sizes.empty()) {
        document.say(line(result->count == 0 ? "C code has no blocks of its own that could be found."
                                             : "No block of C code leaked, as far as words tell."));
        return document;
    }
    document.say(sentence(native_sentence(*result, leaked_only).bold()));
    document.say(gap());
    say_classes(result, document);
    TableBlock table;
    table.columns = {right(at_least() + "blocks"),
                     right(at_least() + "bytes", true),
                     right("of bytes each"),
                     left("an address"),
                     left("what", TextColumn::Fit::middle),
                     left("found from", TextColumn::Fit::end)};
    table.rows = rows_of<TableRow>(result, &NativeResult::sizes, size_cells);
    table.rest = TableRest{.rows = result->size_count,
                           .singular = "more size",
                           .bytes = leaked_only ? result->leaked_bytes : result->bytes,
                           .all = CommandLine{leaked_only ? "native --leaked -n 0" : "native -n 0"}};
    document.say({std::move(table)});
    document.say(sentence(
        "Found from: where a way of words leads to the block. A number may look like one, so a holder "
        "may be wrong, and a leaked block may be missed."));
    document.say(leaked_only || result->leaked_count == 0 ? hint("memory", "what the rest is")
                                                          : hint("native --leaked", "only what leaked"));
    return document;
}

}  // namespace heapsift
