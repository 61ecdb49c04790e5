#pragma once

// One table of text: a line of headings, aligned columns, blanks between them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct TableColumn {
    enum class Align { left, right } align = Align::left;
    std::string heading;
    /// What happens to cells that are too wide for a terminal: a type's name is shortened in the middle, a
    /// value at the end, a sentence in the last column continues below, or stands on lines of its own below the
    /// row if there is no room beside it. An address is never shortened.
    enum class Fit { whole, middle, end, wrap } fit = Fit::whole;
};

/// The cells of rows, of which there may be millions: their text, and four bytes for each.
class TableCells {
public:
    using Row = std::vector<std::string_view>;

    void add(const std::vector<std::string>& row);
    std::size_t size() const { return size_; }
    void for_each(const std::function<void(const Row&)>& visit) const;

private:
    struct Piece {  // some rows
        std::string text;
        std::vector<std::uint32_t> ends;
    };
    std::deque<Piece> pieces_;
    std::size_t columns_ = 0, size_ = 0;
};

class Table {
public:
    using Write = std::function<void(std::string_view)>;

    explicit Table(std::vector<TableColumn> columns);

    /// Cells are already escaped, as many as there are columns.
    void add(const std::vector<std::string>& cells) { rows_.add(cells); }
    /// All rows at once, which may have further cells: column `i` shows the cell `which[i]`.
    void take(TableCells rows, std::vector<std::size_t> which);
    bool empty() const { return rows_.size() == 0; }

    /// Lines, each ended. `width` 0: nothing is shortened; otherwise the columns that may be shortened are,
    /// as far as needed, values first.
    std::string text(std::size_t width, bool colour, std::size_t indent = 2) const;
    /// The same, line by line.
    void write(std::size_t width, bool colour, std::size_t indent, const Write& write) const;

private:
    /// Of each column, but for one that stands below.
    struct Widths {
        std::vector<std::size_t> columns;
        std::size_t page = 0;
        bool last_below = false;
    };
    Widths widths(std::size_t width, std::size_t indent) const;
    Widths widths_of(std::size_t count, std::size_t width, std::size_t indent) const;
    std::string cell(std::size_t column, const std::string& text, std::size_t width) const;
    std::string line(const TableCells::Row& row, const std::vector<std::size_t>& which, const Widths& widths,
                     std::size_t indent) const;

    std::vector<TableColumn> columns_;
    std::vector<std::size_t> which_;  // cell of each row, by column
    TableCells rows_;
};

/// A bar in eighths of a character, `width` characters for a share of 1: "███▊". A share above 0 is at least
/// "▏".
std::string bar(double share, std::size_t width);

}  // namespace heapsift
