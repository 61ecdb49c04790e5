#pragma once

// One table of text: a line of headings, aligned columns, blanks between them.

#include <cstddef>
#include <string>
#include <vector>

namespace heapsift {

struct TableColumn {
    enum class Align { left, right } align = Align::left;
    std::string heading;
    bool may_shorten = false;  // a type name: the only thing that is ever cut, and only on a terminal
};

class Table {
public:
    explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

    /// Cells are escaped already, and as many as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    /// Lines, each ended. `width` 0: nothing is shortened; else columns that may be are, down to `least_shortened` columns.
    std::string text(std::size_t width, bool colour, std::size_t indent = 2) const;

    static constexpr std::size_t least_shortened = 16;

private:
    std::vector<std::size_t> widths(std::size_t width, std::size_t indent) const;
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, std::size_t indent) const;

    std::vector<TableColumn> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A bar of eighths of a character, `width` characters where part is whole: "███▊". A part that is not 0 is at least "▏".
std::string bar(double share, std::size_t width);

}  // namespace heapsift
