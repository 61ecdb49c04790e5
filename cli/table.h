#pragma once

// One table of text: a line of headings, aligned columns, blanks between them.

#include <cstddef>
#include <string>
#include <vector>

namespace heapsift {

struct TableColumn {
    enum class Align { left, right } align = Align::left;
    std::string heading;
    /// What becomes of cells that are too wide for a terminal. A type's name is shortened in its middle, a
    /// value at its end, a sentence in the last column goes on below; an address is never touched.
    enum class Fit { whole, middle, end, wrap } fit = Fit::whole;
};

class Table {
public:
    explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

    /// Cells are escaped already, and as many as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// All rows at once.
    void take(std::vector<std::vector<std::string>> rows) { rows_ = std::move(rows); }
    bool empty() const { return rows_.empty(); }

    /// Lines, each ended. `width` 0: nothing is shortened; else columns that may be are, as far as needed:
    /// values first.
    std::string text(std::size_t width, bool colour, std::size_t indent = 2) const;

private:
    std::vector<std::size_t> widths(std::size_t width, std::size_t indent) const;
    std::string cell(std::size_t column, const std::string& text, std::size_t width) const;
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                     std::size_t indent) const;

    std::vector<TableColumn> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A bar of eighths of a character, `width` characters where part is whole: "███▊". A part that is not 0 is
/// at least "▏".
std::string bar(double share, std::size_t width);

}  // namespace heapsift
