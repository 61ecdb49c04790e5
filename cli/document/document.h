#pragma once

// What stands between a result and its output.
//
// A renderer makes a document from a result and writes nothing; a writer writes a document and knows no
// results. A document has two sides. For people it is a list of blocks (sentences, tables, hints) in reading
// order. For programs it is data and rows, under the keys of the contract. All of it is values that refer to
// no heap, result, page or redactor. Only rows, of which there may be millions, are handed out one by one, by
// functions that own what they read.
//
// Widths, units, colour, escaping and redaction belong to the writer (cli/write). A renderer only says what
// matters more: which column goes first if a page is narrow, which block if a screen is short.

#include "cli/document/datum.h"
#include "cli/document/fields.h"
#include "cli/document/text.h"

#include <functional>

namespace heapsift {

/// Hands out rows one by one, from the first on; may be called again.
template <class Row>
using RowsOf = std::function<void(const std::function<void(const Row&)>&)>;

/// From rows in memory.
template <class Row>
RowsOf<Row> rows_of(std::vector<Row> rows) {
    return [shared = std::make_shared<const std::vector<Row>>(std::move(rows))](
               const std::function<void(const Row&)>& visit) {
        for (const Row& row : *shared) visit(row);
    };
}

/// `make` of each row of a result; the result is kept as long as the document.
template <class Row, class Owner, class Result, class Make>
RowsOf<Row> rows_of(std::shared_ptr<const Owner> owner, std::vector<Result> Owner::*rows, Make make) {
    return [owner = std::move(owner), rows,
            make = std::move(make)](const std::function<void(const Row&)>& visit) {
        for (const Result& result : *owner.*rows) visit(make(result));
    };
}

/// A result that a document keeps alive.
template <class Result>
std::shared_ptr<const Result> kept(Result result) {
    return std::make_shared<const Result>(std::move(result));
}

// --- for people

/// A sentence, a heading, a note.
struct Paragraph {
    Text text = {};
    Text tail = {};         // follows the text and is never wrapped, since it is to be copied
    std::size_t level = 0;  // of indentation
    bool broken = true;     // wrapped at blanks if the page is too narrow
    bool secret = false;    // left out under --redact
};

struct TextColumn {
    enum class Align : std::uint8_t { left, right } align = Align::left;
    Text heading = {};
    /// What happens to cells that are too wide for the page: a type's name is shortened in the middle, a
    /// value at the end, a sentence in the last column continues below. An address is never shortened.
    enum class Fit : std::uint8_t { whole, middle, end, wrap } fit = Fit::whole;
    bool sorted = false;          // the table is sorted by it
    bool tree = false;            // its cells are indented by the depth of their row
    std::size_t narrow_page = 0;  // on a page of fewer columns than this,
    std::size_t narrow_most = 0;  // its cells have at most this many; 0: it is left out,
    bool only_if_empty = false;   // and only if all its cells are empty
    bool optional = false;        // left out if all its cells are empty, however wide the page
};

struct TableRow {
    std::vector<Text> cells = {};  // as many as columns
    std::size_t depth = 0;         // in a tree
    std::uint64_t bytes = 0;       // of the row, if the table prints a share (TableRest) or folds small rows
    bool small = false;            // merged with the other small rows if the screen is short
    std::uint8_t detail = 0;  // left out if the screen is short, those of the largest number first; 0: stays
};

/// The cells of a row; moves them, since there may be millions.
template <class... Parts>
std::vector<Text> cells_of(Parts&&... parts) {
    std::vector<Text> cells;
    cells.reserve(sizeof...(parts) + 2);
    (cells.emplace_back(std::forward<Parts>(parts)), ...);
    return cells;
}

/// The line below a table that is cut: "… 3 more types; these 20 are 95 % of the memory. All: …".
struct TableRest {
    std::uint64_t rows = 0;                   // of the whole table
    std::string singular = {};                // "more type"; empty: "more"
    std::optional<std::uint64_t> bytes = {};  // of all rows, if a share is printed
    std::string of = "the memory";            // what they are the bytes of
    Text all = {};                            // the command that shows them
};

/// Rows of cells under headings. Without rows nothing is printed.
struct TableBlock {
    std::vector<TextColumn> columns = {};
    RowsOf<TableRow> rows = {};
    std::optional<TableRest> rest = {};
    std::size_t level = 1;
    std::size_t deepest = 0;  // in a tree, the deepest indentation; 0: no limit
    std::size_t fewest = 0;   // a short screen cuts rows at the end down to this many; 0: it cuts none
    std::string folded = {};  // a short screen merges the small rows into one of this name; empty: not
};

/// What to type next, and what it gives.
struct Hint {
    Text command = {};  // what follows the program's name: "show 0x7f…"
    Text what_for = {};
};

/// Whose core this is: the program's name, then what is known of the process.
struct Masthead {
    Text name = {}, process = {}, facts = {}, state = {};
    Text where = {};  // follows `state`, to be copied
};

/// An empty line.
struct Gap {};

struct Block;

/// Blocks, and those that replace them if the screen is short.
struct Alternative {
    std::vector<Block> blocks = {}, instead = {};
};

struct Block {
    std::variant<Paragraph, TableBlock, Hint, Masthead, Gap, Alternative> content;
};

// --- both

struct Document {
    std::string command = {};  // a name of command_list.cpp: "types", whose schema is heapsift.types/1
    bool certain = true;       // false if the answer rests on guesses, whatever the core
    std::vector<Block> blocks = {};

    Datum data = Datum::object();  // all but the rows
    // In JSON the rows are the first key of `data`.
    std::string rows_key = {};  // "types"; empty if the answer is no table
    RowsOf<Datum> rows = {};
    /// The same rows field by field, if there may be millions; JSON is then written from these.
    std::function<void(Fields&)> field_rows = {};
    std::vector<std::string> csv_columns = {};
    /// Further tables of the same answer, in JSON only.
    struct Table {
        std::string key;
        RowsOf<Datum> rows;
    };
    std::vector<Table> more_tables = {};

    /// Adds a block.
    void say(Block block) { blocks.push_back(std::move(block)); }
};

/// A paragraph that is wrapped if the page is narrow.
inline Block sentence(Text text, Text tail = {}, std::size_t level = 0) {
    return {Paragraph{std::move(text), std::move(tail), level, true}};
}
/// A line that is never wrapped.
inline Block line(Text text, std::size_t level = 0) { return {Paragraph{std::move(text), {}, level, false}}; }
inline Block hint(Text command, Text what_for = {}) {
    return {Hint{std::move(command), std::move(what_for)}};
}
inline Block gap() { return {Gap{}}; }

}  // namespace heapsift
