// Tables. The last column is not padded, so no line ends in blanks; two blanks stand between columns.

#include "cli/table.h"

#include "cli/terminal.h"
#include "cli/text_width.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace heapsift {
namespace {

// The steps by which a table becomes narrower, in order, until it fits.
struct Step {
    TableColumn::Fit fit;
    std::size_t least;  // width below which this step does not cut a column
};
constexpr std::array steps = {Step{TableColumn::Fit::wrap, 24},   Step{TableColumn::Fit::end, 12},
                              Step{TableColumn::Fit::middle, 16}, Step{TableColumn::Fit::end, 5},
                              Step{TableColumn::Fit::middle, 8},  Step{TableColumn::Fit::end, 1}};

}  // namespace

std::vector<std::size_t> Table::widths(std::size_t width, std::size_t indent) const {
    std::vector<std::size_t> widths;
    std::size_t total = indent;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = display_width(columns_[i].heading);
        for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
        widths.push_back(widest);
        total += widest + (i > 0 ? 2 : 0);
    }
    for (const Step& step : steps) {
        for (std::size_t i = 0; i < columns_.size() && width != 0 && total > width; ++i) {
            if (columns_[i].fit != step.fit || widths[i] <= step.least) continue;
            const std::size_t less = std::min(total - width, widths[i] - step.least);
            widths[i] -= less;
            total -= less;
        }
    }
    return widths;
}

std::string Table::cell(std::size_t column, const std::string& text, std::size_t width) const {
    if (columns_[column].fit == TableColumn::Fit::middle) return shortened_in_the_middle(text, width);
    if (columns_[column].fit == TableColumn::Fit::end) return shortened_at_the_end(text, width);
    return text;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                        std::size_t indent) const {
    std::string line(indent, ' ');
    std::size_t begin = indent;  // the column at which the cell begins
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += "  ";
        const std::string text = cell(i, cells[i], widths[i]);
        if (columns_[i].fit == TableColumn::Fit::wrap)
            line += wrapped(text, widths[i] == 0 ? 0 : begin + widths[i], begin, begin);
        else
            line += columns_[i].align == TableColumn::Align::right ? padded_left(text, widths[i])
                                                                   : padded_right(text, widths[i]);
        begin += widths[i] + 2;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string Table::text(std::size_t width, bool colour, std::size_t indent) const {
    const std::vector<std::size_t> column_widths = widths(width, indent);
    std::vector<std::string> headings;
    for (const TableColumn& column : columns_) headings.push_back(column.heading);
    const bool headed = std::any_of(headings.begin(), headings.end(),
                                    [](const std::string& heading) { return !heading.empty(); });
    std::string text = headed ? bold(line(headings, column_widths, indent), colour) + "\n" : "";
    for (const auto& row : rows_) text += line(row, column_widths, indent) + "\n";
    return text;
}

std::string bar(double share, std::size_t width) {
    constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(share > 0)) return {};
    const auto total =
        static_cast<std::size_t>(std::lround(std::min(share, 1.0) * 8.0 * static_cast<double>(width)));
    const std::size_t filled = std::max<std::size_t>(total, 1);
    std::string text;
    for (std::size_t i = 0; i < filled / 8; ++i) text += "█";
    return text + eighths[filled % 8];
}

}  // namespace heapsift
