// Tables. The last column is not padded, so no line ends in blanks; two blanks stand between columns.

#include "cli/table.h"

#include "cli/terminal.h"
#include "cli/text_width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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

constexpr std::size_t piece_bytes = 1 << 16;

}  // namespace

void TableCells::add(const std::vector<std::string>& row) {
    std::size_t length = 0;
    for (const std::string& cell : row) length += cell.size();
    if (pieces_.empty() || pieces_.back().text.size() + length > piece_bytes) {
        if (!pieces_.empty()) pieces_.back().ends.shrink_to_fit();
        pieces_.emplace_back();
        if (pieces_.size() > 1) pieces_.back().text.reserve(std::max(piece_bytes, length));
    }
    Piece& piece = pieces_.back();
    for (const std::string& cell : row) {
        piece.text += cell;
        piece.ends.push_back(static_cast<std::uint32_t>(piece.text.size()));
    }
    columns_ = row.size();
    ++size_;
}

void TableCells::for_each(const std::function<void(const Row&)>& visit) const {
    Row row(columns_);
    for (const Piece& piece : pieces_) {
        std::uint32_t begin = 0;
        for (std::size_t i = 0; i < piece.ends.size(); ++i) {
            row[i % columns_] = std::string_view(piece.text).substr(begin, piece.ends[i] - begin);
            begin = piece.ends[i];
            if ((i + 1) % columns_ == 0) visit(row);
        }
    }
}

Table::Table(std::vector<TableColumn> columns) : columns_(std::move(columns)), which_(columns_.size()) {
    std::iota(which_.begin(), which_.end(), std::size_t{0});
}

void Table::take(TableCells rows, std::vector<std::size_t> which) {
    rows_ = std::move(rows);
    which_ = std::move(which);
}

Table::Widths Table::widths_of(std::size_t count, std::size_t width, std::size_t indent) const {
    std::vector<std::size_t> widths;
    std::size_t total = indent;
    for (std::size_t i = 0; i < count; ++i) widths.push_back(display_width(columns_[i].heading));
    rows_.for_each([&](const TableCells::Row& row) {
        for (std::size_t i = 0; i < count; ++i)
            widths[i] = std::max(widths[i], display_width(row[which_[i]]));
    });
    for (std::size_t i = 0; i < count; ++i) total += widths[i] + (i > 0 ? 2 : 0);
    for (const Step& step : steps) {
        for (std::size_t i = 0; i < count && width != 0 && total > width; ++i) {
            if (columns_[i].fit != step.fit || widths[i] <= step.least) continue;
            const std::size_t less = std::min(total - width, widths[i] - step.least);
            widths[i] -= less;
            total -= less;
        }
    }
    return {std::move(widths), width, width != 0 && total > width};
}

Table::Widths Table::widths(std::size_t width, std::size_t indent) const {
    Widths all = widths_of(columns_.size(), width, indent);
    const bool below = all.last_below && columns_.size() > 1 && columns_.back().fit == TableColumn::Fit::wrap;
    if (below) all = widths_of(columns_.size() - 1, width, indent);
    all.last_below = below;
    return all;
}

std::string Table::cell(std::size_t column, const std::string& text, std::size_t width) const {
    if (columns_[column].fit == TableColumn::Fit::middle) return shortened_in_the_middle(text, width);
    if (columns_[column].fit == TableColumn::Fit::end) return shortened_at_the_end(text, width);
    return text;
}

std::string Table::line(const TableCells::Row& row, const std::vector<std::size_t>& which, const Widths& page,
                        std::size_t indent) const {
    constexpr std::size_t deeper = 4;  // than the row, of what stands below it
    const std::vector<std::size_t>& widths = page.columns;
    std::string line(indent, ' ');
    std::size_t begin = indent;  // the column at which the cell begins
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (i > 0) line += "  ";
        const std::string text = cell(i, std::string(row[which[i]]), widths[i]);
        if (columns_[i].fit == TableColumn::Fit::wrap)
            line += wrapped(text, widths[i] == 0 ? 0 : begin + widths[i],
                            begin + std::min(text.find_first_not_of(' '), text.size()), begin);
        else
            line += columns_[i].align == TableColumn::Align::right ? padded_left(text, widths[i])
                                                                   : padded_right(text, widths[i]);
        begin += widths[i] + 2;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (page.last_below && !row[which.back()].empty()) {
        const std::size_t at = indent + deeper;
        line += "\n" + std::string(at, ' ') + wrapped(std::string(row[which.back()]), page.page, at, at);
    }
    return line;
}

std::string Table::text(std::size_t width, bool colour, std::size_t indent) const {
    std::string text;
    write(width, colour, indent, [&](std::string_view part) { text += part; });
    return text;
}

void Table::write(std::size_t width, bool colour, std::size_t indent, const Write& write) const {
    const Widths column_widths = widths(width, indent);
    std::vector<std::size_t> in_order(columns_.size());
    std::iota(in_order.begin(), in_order.end(), std::size_t{0});
    TableCells::Row headings;
    for (const TableColumn& column : columns_) headings.emplace_back(column.heading);
    const bool headed = std::any_of(headings.begin(), headings.end(),
                                    [](std::string_view heading) { return !heading.empty(); });
    if (headed) write(bold(line(headings, in_order, column_widths, indent), colour) + "\n");
    rows_.for_each(
        [&](const TableCells::Row& row) { write(line(row, which_, column_widths, indent) + "\n"); });
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
