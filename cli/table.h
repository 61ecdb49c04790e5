#pragma once

// One table of text: a line of headings, aligned columns, blanks between them.

#include <cstddef>
#include <string>
#include <vector>

namespace heapsift {

struct TableColumn {
    enum class Align { left, right } align = Align::left;
    std::string heading;
    /// What happens to cells that are too wide for a terminal: a type's name is shortened in the middle, a
    /// value at the end, a sentence in the last column continues below. An address is never shortened.
    enum class Fit { whole, middle, end, wrap } fit = Fit::whole;
};

class Table {
public:
    explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

    /// Cells are already escaped, as many as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// All rows at once.
    void take(std::vector<std::vector<std::string>> rows) { rows_ = std::move(rows); }
    bool empty() const { return rows_.empty(); }

    /// Lines, each ended. `width` 0: nothing is shortened; otherwise the columns that may be shortened are,
    /// as far as needed, values first.
    std::string text(std::size_t width, bool colour, std::size_t indent = 2) const;

private:
    std::vector<std::size_t> widths(std::size_t width, std::size_t indent) const;
    std::string cell(std::size_t column, const std::string& text, std::size_t width) const;
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                     std::size_t indent) const;

    std::vector<TableColumn> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A bar in eighths of a character, `width` characters for a share of 1: "███▊". A share above 0 is at least
/// "▏".
std::string bar(double share, std::size_t width);

}  // namespace heapsift
