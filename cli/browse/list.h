#pragma once

// One list of `browse`: rows of cells, of which those that are looked at are put into words; sorted, filtered and
// searched by the keys of a person.

#include "analysis/graph/node.h"
#include "cli/document/document.h"
#include "cli/page.h"
#include "parsers/base/ids.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What a list is about; with equal places it is the same list.
struct Place {
    enum class Kind : std::uint8_t {
        suspects,    // likely causes
        dominators,  // the top of the dominator tree
        holders,     // what holds objects, by owner and attribute
        types,       // objects by type
        threads,     // threads and their calls
        inside,      // what `node` holds alone: one level of the dominator tree
        shared,      // what several groups hold
        locals,      // the variables of call `index` of thread `thread`
        objects,     // the objects of type `index`
        path,        // what keeps `object` alive
        referrers,   // what refers to `object`
        referents,   // what `object` refers to
        answer,      // the tables of another command: `command`
        marks,       // what was marked
        places       // the lists that were left: to jump back
    } kind = Kind::suspects;
    ObjectId object = no_object;
    NodeId node = no_node;
    std::size_t thread = 0, index = 0;
    enum class Command : std::uint8_t { none, cycles, native, memory, arrays } command = Command::none;
    std::size_t rows = 0;  // at most so many; 0: as many as such a list has at first

    friend bool operator==(const Place&, const Place&) = default;
};

/// What a row stands for: what the keys that ask about it ask about.
struct Subject {
    ObjectId object = no_object;
    NodeId node = no_node;            // of the dominator tree; a group, or a call, where it is no object
    std::optional<Place> opens = {};  // by Enter
    Text command = {};  // of heapsift, that shows it: "types --type app.Node"; empty: `show` of the object
    std::vector<Text> about = {};  // what is known beyond the row: a cause, a fix
};

struct ListRow {
    std::uint64_t bytes = 0;                  // of the bar
    std::vector<std::uint64_t> numbers = {};  // of each column that is sorted by number; in their order
    std::vector<Text> cells = {};             // as many as columns; empty until they are needed (List::words)
    Subject subject = {};
    std::size_t depth = 0;  // of indentation, below the row that it belongs to
};

/// A column that can be sorted by number has ListRow::numbers[number].
struct ListColumn {
    std::string heading;
    bool right = false;
    std::optional<std::size_t> number = {};
    std::size_t narrow_page = 0;  // left out on a page of fewer columns
    bool if_it_fits = false;      // on a narrower one too, where all columns fit whole
    bool bar = false;             // followed by a bar of ListRow::bytes
};

/// Refers to what it was made from: the lists of one heap.
struct List {
    Place place;
    Text title = {};   // "suspects", "inside app.CACHE"
    Text remark = {};  // one line more
    std::vector<ListColumn> columns = {};
    std::vector<ListRow> rows = {};
    std::uint64_t whole = 0;                         // bytes, of a bar that is full
    std::uint64_t left_out = 0, left_out_bytes = 0;  // rows that are not here
    /// Puts rows into words, all of them not yet in words; as many as are seen at a time.
    std::function<void(std::vector<ListRow*>&)> words = {};
    std::size_t sorted_by = 0;  // a column; behind the last: in their own order
    std::size_t begins_at = 0;  // the row that a person sees first as chosen
    bool in_order = false;      // rows belong below each other, or follow one another: they are not sorted
};

/// A list as it is seen: a filter, an order, a cursor.
class ListView {
public:
    /// Cells become text by `page`, for search and filter.
    ListView(std::shared_ptr<List> list, const Page& page);

    const List& list() const { return *list_; }
    /// Rows that pass the filter.
    std::size_t size() const { return shown_.size(); }
    bool empty() const { return shown_.empty(); }
    /// In words; `at` below size().
    const ListRow& row(std::size_t at);
    /// The same of `count` rows from `first` on, at once.
    void need(std::size_t first, std::size_t count);

    std::size_t cursor() const { return cursor_; }
    std::size_t top() const { return top_; }
    /// Moves by so many rows, and stays within the list.
    void move(std::ptrdiff_t by);
    void move_to(std::size_t at);
    /// The first row that is drawn, so that the cursor is one of `height`.
    void scroll(std::size_t height);

    /// Rows in whose cells `text` is, whatever the case; empty: all.
    void filter(const std::string& text);
    const std::string& filter_text() const { return filter_; }
    /// To the next row with that text in it, behind the cursor (or before it), round the end; `from_cursor`: the
    /// cursor's own row counts. False if there is none.
    bool search(const std::string& text, bool backwards, bool from_cursor = false);
    /// By the next column that can be sorted by; false if there is no other.
    bool sort_by_next();
    std::size_t sorted_by() const { return sorted_by_; }

private:
    void order();
    bool has(std::size_t row, const std::string& lower);
    const std::string& text_of(std::size_t row);
    void into_words(std::vector<ListRow*> rows);

    std::shared_ptr<List> list_;
    const Page& page_;
    std::vector<std::size_t> shown_;  // of List::rows
    std::vector<std::string> texts_;  // in lower case, by row; "" until needed
    std::string filter_;
    std::size_t cursor_ = 0, top_ = 0, sorted_by_ = 0;
};

}  // namespace heapsift
