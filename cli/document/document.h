#pragma once

// What stands between a result and what is printed of it.
//
// A renderer makes a document of a result and writes nothing; a writer writes a document and knows no result. The
// document has two sides. For people it is a list of blocks: sentences, tables, hints, in the order in which they are
// read. For programs it is data and rows, by the keys of the contract. All of it is values: nothing refers to a heap, a
// result, a page or a redactor. Rows alone, of which there may be millions, are handed out one by one, by functions that
// own what they read.
//
// Widths, units, colour, escaping and redaction are the writer's (cli/write). What a renderer may say is what matters
// more: which column goes first where a page is narrow, and which block where a screen is short.

#include "cli/document/datum.h"
#include "cli/document/text.h"

#include <functional>

namespace heapsift {

/// Hands out rows one by one, from the first on; may be asked for them again.
template <class Row>
using RowsOf = std::function<void(const std::function<void(const Row&)>&)>;

/// Of rows that are there already.
template <class Row>
RowsOf<Row> rows_of(std::vector<Row> rows) {
    return [shared = std::make_shared<const std::vector<Row>>(std::move(rows))](
               const std::function<void(const Row&)>& visit) {
        for (const Row& row : *shared) visit(row);
    };
}

/// Of each row of a result, which is kept as long as the document, what `make` makes of it.
template <class Row, class Owner, class Result, class Make>
RowsOf<Row> rows_of(std::shared_ptr<const Owner> owner, std::vector<Result> Owner::*rows, Make make) {
    return [owner = std::move(owner), rows,
            make = std::move(make)](const std::function<void(const Row&)>& visit) {
        for (const Result& result : *owner.*rows) visit(make(result));
    };
}

/// A result that a document keeps.
template <class Result>
std::shared_ptr<const Result> kept(Result result) {
    return std::make_shared<const Result>(std::move(result));
}

// --- for people

/// A sentence, a heading, a note.
struct Paragraph {
    Text text = {};
    Text tail = {};         // behind it, never broken, since it is to be copied
    std::size_t level = 0;  // further in
    bool broken = true;     // at blanks, where the page is too narrow
    bool secret = false;    // left out under --redact
};

struct TextColumn {
    enum class Align : std::uint8_t { left, right } align = Align::left;
    Text heading = {};
    /// What becomes of cells that are too wide for a page. A type's name is shortened in its middle, a value at its
    /// end, a sentence in the last column goes on below; an address is never touched.
    enum class Fit : std::uint8_t { whole, middle, end, wrap } fit = Fit::whole;
    bool sorted = false;          // the table is sorted by it
    bool tree = false;            // its cells stand further in, by the depth of their row
    std::size_t narrow_page = 0;  // on pages of fewer columns
    std::size_t narrow_most = 0;  // its cells have at most so many; 0: it is left out
    bool only_if_empty = false;   // and is left out only where no cell of it has anything
    bool optional = false;        // where no cell of it has anything it is left out, however wide the page
};

struct TableRow {
    std::vector<Text> cells = {};  // as many as columns
    std::size_t depth = 0;         // of a tree
    std::uint64_t bytes =
        0;               // that it stands for, where the table says a share (TableRest) or folds small rows
    bool small = false;  // is one with the other small ones where the screen is short
};

/// Cells of a row of which there may be millions: none of them is copied.
template <class... Parts>
std::vector<Text> cells_of(Parts&&... parts) {
    std::vector<Text> cells;
    cells.reserve(sizeof...(parts) + 2);
    (cells.emplace_back(std::forward<Parts>(parts)), ...);
    return cells;
}

/// The line below a table that is not whole: "… 3 more types; these 20 are 95 % of the memory. All: …".
struct TableRest {
    std::uint64_t rows = 0;                   // there are, shown or not
    std::string singular = {};                // "more type"; empty: "more"
    std::optional<std::uint64_t> bytes = {};  // of all rows, where a share is said
    Text all = {};                            // how to see them
};

/// Rows of cells under headings; nothing where there are no rows.
struct TableBlock {
    std::vector<TextColumn> columns = {};
    RowsOf<TableRow> rows = {};
    std::optional<TableRest> rest = {};
    std::size_t level = 1;
    std::size_t deepest = 0;  // of a tree: what is deeper stands no further in; 0: none is too deep
    std::size_t fewest = 0;   // where the screen is short, rows at the end go, down to so many; 0: none
    std::string folded = {};  // small rows become one of this name, where the screen is short
};

/// What to type next, and what for.
struct Hint {
    Text command = {};  // words after the program's name: "show 0x7f…"
    Text what_for = {};
};

/// Whose core this is: its name, then what is known of it.
struct Masthead {
    Text name = {}, process = {}, facts = {}, state = {};
    Text where = {};  // behind the state, to be copied
};

/// An empty line.
struct Gap {};

struct Block;

/// Blocks, and others in their place where the screen is short.
struct Alternative {
    std::vector<Block> blocks = {}, instead = {};
};

struct Block {
    std::variant<Paragraph, TableBlock, Hint, Masthead, Gap, Alternative> content;
};

// --- both

struct Document {
    std::string command = {};  // as in command_list.cpp: "types", whose schema is heapsift.types/1
    bool certain = true;       // false where guesses decide, whatever the core
    std::vector<Block> blocks = {};

    Datum data = Datum::object();  // without the rows
    // In JSON rows are the first key of `data`.
    std::string rows_key = {};  // "types"; empty: not a table
    RowsOf<Datum> rows = {};
    std::vector<std::string> csv_columns = {};
    /// Other tables of the same answer; only JSON has them.
    struct Table {
        std::string key;
        RowsOf<Datum> rows;
    };
    std::vector<Table> more_tables = {};

    /// Adds a block.
    void say(Block block) { blocks.push_back(std::move(block)); }
};

/// A paragraph of one sentence, broken where the page is narrow.
inline Block sentence(Text text, Text tail = {}, std::size_t level = 0) {
    return {Paragraph{std::move(text), std::move(tail), level, true}};
}
/// A line that is never broken.
inline Block line(Text text, std::size_t level = 0) { return {Paragraph{std::move(text), {}, level, false}}; }
inline Block hint(Text command, Text what_for = {}) {
    return {Hint{std::move(command), std::move(what_for)}};
}
inline Block gap() { return {Gap{}}; }

}  // namespace heapsift
