// Native blocks: a sentence, and two tables of the same blocks.

#include "cli/render/native.h"

#include "cli/render/object.h"
#include "cli/render/source_line.h"

namespace heapsift {
namespace {

constexpr std::size_t narrowest_with_sizes = 120;

Text sizes_of(const NativeClassRow& row) {
    return row.smallest == row.largest ? says("{}", Count{row.smallest})
                                       : says("{} to {}", Count{row.smallest}, Count{row.largest});
}

/// "leaked", "50,000 leaked, 12 by python3.11 _PyRuntime", "libfoo.so kept", "12,000 by lxml.etree._Element".
Text held_words(const NativeHeld& held, std::uint64_t count, bool tells_leaks) {
    std::vector<Text> words;
    const Text leaked = !tells_leaks ? Text("by nothing that is here")
                        : held.by_number == 0
                            ? Text("leaked")
                            : says("leaked, unless ints are handles ({})", Count{held.by_number});
    if (held.leaked == count) return leaked;
    if (held.leaked > 0) words.push_back(says("{} {}", Count{held.leaked}, leaked));
    const Text by = held.by_type ? Text(TypeName{held.by}) : Text(held.by);
    words.push_back(held.by_count == count ? by : says("{} by {}", Count{held.by_count}, by));
    return joined(std::move(words), ", ");
}

TableRow class_cells(const NativeClassRow& row, bool tells_leaks) {
    return {.cells = cells_of(Count{row.count}, ByteCount{row.bytes}, sizes_of(row), row.example,
                              row.named ? Text(TypeName{row.name}) : Text(row.name),
                              held_words(row.held, row.count, tells_leaks)),
            .bytes = row.bytes};
}

TableRow size_cells(const NativeSizeRow& row, bool tells_leaks) {
    const Text what = row.of_class.empty() ? Text(row.content) : Text(TypeName{row.of_class});
    return {.cells = cells_of(Count{row.count}, ByteCount{row.bytes}, Count{row.size}, row.example, what,
                              held_words(row.held, row.count, tells_leaks)),
            .bytes = row.bytes};
}

Datum leaked_data(const NativeHeld& held, bool tells_leaks) {
    return tells_leaks ? Datum(held.leaked) : Datum();
}

Datum class_data(const NativeClassRow& row, bool tells_leaks) {
    return entries({{"name", row.name},
                    {"module", or_null(row.module)},
                    {"named", row.named},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"smallest", row.smallest},
                    {"largest", row.largest},
                    {"example", row.example},
                    {"leaked", leaked_data(row.held, tells_leaks)},
                    {"from_numbers", row.held.by_number},
                    {"from_python", row.held.by_python},
                    {"holder", or_null(row.held.by)},
                    {"holder_is_type", row.held.by_type},
                    {"holder_count", row.held.by_count}});
}

Datum size_data(const NativeSizeRow& row, bool tells_leaks) {
    return entries({{"size", row.size},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"class", or_null(row.of_class)},
                    {"content", or_null(row.content)},
                    {"example", row.example},
                    {"leaked", leaked_data(row.held, tells_leaks)},
                    {"from_numbers", row.held.by_number},
                    {"from_python", row.held.by_python},
                    {"holder", or_null(row.held.by)},
                    {"holder_is_type", row.held.by_type},
                    {"holder_count", row.held.by_count}});
}

void say_classes(const std::shared_ptr<const NativeResult>& result, Document& document) {
    if (result->classes.empty()) return;
    TableBlock table;
    table.columns = {right(at_least() + "objects"),
                     right(at_least() + "bytes", true),
                     right("size of each"),
                     left("an address"),
                     left("C++ class, or table of functions", TextColumn::Fit::middle),
                     left("found from", TextColumn::Fit::end)};
    table.columns[2].narrow_page = narrowest_with_sizes;
    table.rows = rows_of<TableRow>(
        result, &NativeResult::classes,
        [tells = result->tells_leaks](const NativeClassRow& row) { return class_cells(row, tells); });
    table.rest = TableRest{.rows = result->class_count,
                           .singular = "more kind",
                           .bytes = result->of_classes,
                           .all = CommandLine{"native -n 0"}};
    document.say({std::move(table)});
    document.say(gap());
}

/// What is in a block, or what class it is of.
Text what_words(const NativeListRow& row) {
    if (row.of_class.empty()) return row.content;
    return row.class_named ? Text(TypeName{row.of_class}) : Text(row.of_class);
}

Text held_words(const NativeListRow& row) {
    if (!row.held_by.empty()) return row.held_by_type ? Text(TypeName{row.held_by}) : Text(row.held_by);
    if (!row.leaked) return "by nothing that is here";
    return row.by_number ? "leaked, unless an int is its handle" : "leaked";
}

std::optional<SourceLine> line_of(const NativeDetails& details, const NativeListRow& row) {
    return details.line({row.address, row.address + row.bytes});
}

Datum block_data(const NativeDetails& details, const NativeListRow& row) {
    Datum data = entries({{"address", row.address},
                          {"size", row.bytes},
                          {"class", or_null(row.of_class)},
                          {"content", or_null(row.content)},
                          {"held_by", or_null(row.held_by)},
                          {"held_by_type", row.held_by_type},
                          {"from_number", row.by_number},
                          {"leaked", row.leaked}});
    if (!details.line) return data;
    const auto line = line_of(details, row);
    data["file"] = line ? Datum(FilePath{line->file}) : Datum();
    data["line"] = line && line->line > 0 ? Datum(line->line) : Datum();
    return data;
}

Datum content_data(const NativeContent& content, bool tells_leaks) {
    return entries({{"content", or_null(content.content)},
                    {"count", content.count},
                    {"bytes", content.bytes},
                    {"leaked", tells_leaks ? Datum(content.leaked) : Datum()}});
}

/// Rows of the list, which is made when the first is asked for.
RowsOf<NativeListRow> block_rows(const NativeDetails& details) {
    return [details](const std::function<void(const NativeListRow&)>& visit) {
        const NativeList list = details.list();
        for (std::size_t i = 0; i < list.blocks.size(); ++i) visit(details.row(list.blocks[i], list.rows[i]));
    };
}

RowsOf<Datum> blocks_data(const NativeDetails& details) {
    return [rows = block_rows(details), details](const std::function<void(const Datum&)>& visit) {
        rows([&](const NativeListRow& row) { visit(block_data(details, row)); });
    };
}

void say_blocks(const NativeResult& result, const NativeDetails& details, bool leaked_only,
                Document& document) {
    TableBlock table;
    table.columns = {left("address"), right("bytes", true), left("what", TextColumn::Fit::middle),
                     left("found from", TextColumn::Fit::end)};
    if (details.line) table.columns.push_back(left("allocated at", TextColumn::Fit::middle));
    table.rows = [rows = block_rows(details), details](const std::function<void(const TableRow&)>& visit) {
        rows([&](const NativeListRow& row) {
            TableRow cells{.cells = cells_of(row.address, Count{row.bytes}, what_words(row), held_words(row)),
                           .bytes = row.bytes};
            if (details.line) cells.cells.push_back(line_or_blank(line_of(details, row)));
            visit(cells);
        });
    };
    table.rest =
        TableRest{.rows = leaked_only ? result.leaked_count : result.count,
                  .singular = "more block",
                  .bytes = leaked_only ? result.leaked_bytes : result.bytes,
                  .all = CommandLine{leaked_only ? "native --leaked --blocks -n 0" : "native --blocks -n 0"}};
    document.say({std::move(table)});
}

void say_sizes(const std::shared_ptr<const NativeResult>& result, bool leaked_only, Document& document) {
    TableBlock table;
    table.columns = {right(at_least() + "blocks"),
                     right(at_least() + "bytes", true),
                     right("size of each"),
                     left("an address"),
                     left("what", TextColumn::Fit::middle),
                     left("found from", TextColumn::Fit::end)};
    table.rows = rows_of<TableRow>(
        result, &NativeResult::sizes,
        [tells = result->tells_leaks](const NativeSizeRow& row) { return size_cells(row, tells); });
    table.rest = TableRest{.rows = result->size_count,
                           .singular = "more size",
                           .bytes = leaked_only ? result->leaked_bytes : result->bytes,
                           .all = CommandLine{leaked_only ? "native --leaked -n 0" : "native -n 0"}};
    document.say({std::move(table)});
}

std::optional<Address> first_address(const NativeDetails& details) {
    std::optional<Address> first;
    block_rows(details)([&](const NativeListRow& row) {
        if (!first) first = row.address;
    });
    return first;
}

Text native_sentence(const NativeResult& result, bool leaked_only) {
    const Text leaked = says("{} of it in {} leaked: no word of the memory that may be a pointer leads there",
                             ByteCount{result.leaked_bytes}, how_many(result.leaked_count, "block"));
    if (leaked_only)
        return says("{}{} in {} of C code.", at_least(), ByteCount{result.leaked_bytes},
                    how_many(result.leaked_count, "leaked block"));
    Text text =
        says("{}{} in {} of C code", at_least(), ByteCount{result.bytes}, how_many(result.count, "block"));
    if (result.python_bytes > 0)
        text += says("; from Python's memory one gets to {}", ByteCount{result.python_bytes});
    text += ".";
    if (!result.tells_leaks)
        return text + " Which of it leaked cannot be told: what refers to it may be in the missing part.";
    if (result.leaked_count > 0) text += " " + leaked + ".";
    if (result.number_bytes > 0)
        text += says(" But an int leads to {} of that: if a library keeps its handles in ints, they did not.",
                     ByteCount{result.number_bytes});
    return text;
}

}  // namespace

Document render_native(NativeResult native, NativeDetails details, NativeShown shown) {
    const auto result = kept(std::move(native));
    Document document{.command = "native", .certain = false};
    RowsOf<Datum> sizes = rows_of<Datum>(
        result, &NativeResult::sizes,
        [tells = result->tells_leaks](const NativeSizeRow& row) { return size_data(row, tells); });
    if (shown.blocks) {
        document.rows_key = "blocks";
        document.rows = blocks_data(details);
        document.csv_columns = {"address", "size",         "class",       "content",
                                "held_by", "held_by_type", "from_number", "leaked"};
        if (details.line) document.csv_columns.insert(document.csv_columns.end(), {"file", "line"});
        document.more_tables.push_back({"sizes", std::move(sizes)});
    } else {
        document.rows_key = "sizes";
        document.rows = std::move(sizes);
        document.csv_columns = {"size",        "count",   "bytes",          "class",
                                "content",     "example", "leaked",         "from_numbers",
                                "from_python", "holder",  "holder_is_type", "holder_count"};
        document.more_tables.push_back({"blocks", blocks_data(details)});
    }
    document.more_tables.push_back(
        {"contents", [details, tells = result->tells_leaks](const std::function<void(const Datum&)>& visit) {
             for (const NativeContent& content : details.contents()) visit(content_data(content, tells));
         }});
    document.data["classes"] = Datum::list_of(
        result->classes,
        [tells = result->tells_leaks](const NativeClassRow& row) { return class_data(row, tells); });
    document.data["total"] =
        entries({{"count", result->count},
                 {"bytes", result->bytes},
                 {"sizes", result->size_count},
                 {"classes", result->class_count},
                 {"from_python_bytes", result->python_bytes},
                 {"leaked_count", result->tells_leaks ? Datum(result->leaked_count) : Datum()},
                 {"from_numbers_bytes", result->number_bytes},
                 {"leaked_bytes", result->tells_leaks ? Datum(result->leaked_bytes) : Datum()}});
    if (shown.leaked_only && !result->tells_leaks) {
        document.say(line(
            "This core is cut. What leaked cannot be told: what refers to it may be in the missing part."));
        return document;
    }
    if (result->sizes.empty()) {
        document.say(line(result->count == 0 ? "No block of C code was found in malloc's memory."
                                             : "No block of C code leaked, as far as words tell."));
        return document;
    }
    document.say(sentence(native_sentence(*result, shown.leaked_only).bold()));
    document.say(gap());
    if (shown.blocks) {
        say_blocks(*result, details, shown.leaked_only, document);
    } else {
        say_classes(result, document);
        say_sizes(result, shown.leaked_only, document);
    }
    document.say(sentence(
        "Found from: where a way of words leads to the block. A number may look like one, so a holder may be "
        "wrong, and a leaked block may be missed; a pointer that is hidden is not seen. Bytes are what "
        "malloc handed out, touched or not."));
    const bool leaks = result->leaked_count > 0 && result->tells_leaks;
    if (shown.blocks) {
        if (const auto address = first_address(details))
            document.say(hint(says("show {}", *address), "the first of them, and what leads to it"));
        return document;
    }
    document.say(shown.leaked_only && leaks ? hint("native --leaked --blocks", "each of them")
                 : leaks                    ? hint("native --leaked", "only what leaked")
                                            : hint("memory", "what the rest is"));
    return document;
}

}  // namespace heapsift
