// Text. A page has a width, and a first screen a height. The document says what may give way; this file finds
// how far: the text is written again, shorter, until it fits. That happens for a single screen of text, so it
// costs almost nothing.

#include "cli/write/text.h"

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "cli/write/spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heapsift {
namespace {

constexpr std::size_t blanks_a_level = 2;
constexpr std::size_t for_others = 3;  // lines of a screen: the prompt, and output before the answer

std::string blanks(std::size_t columns) { return std::string(columns, ' '); }

/// How much of a first screen has given way so far.
struct Shorter {
    std::size_t rows_cut = 0;
    bool instead = false, folded = false;
    std::uint8_t details =
        std::numeric_limits<std::uint8_t>::max();  // the largest TableRow::detail that is shown
};

/// The rows of a table while they are collected: only when all cells are known can an empty column be left
/// out.
struct Cells {
    TableCells rows;
    std::vector<bool> has_any;  // by column
    std::uint64_t bytes = 0;    // of all rows together
};

TableRow folded_rows(const std::vector<TableRow>& rows, const std::string& name) {
    TableRow sum = rows.front();
    for (std::size_t column = 0; column < sum.cells.size(); ++column) {
        Text cell;
        for (std::size_t i = 0; i < sum.cells[column].spans().size(); ++i) {
            Span span = sum.cells[column].spans()[i];
            if (std::holds_alternative<Wording>(span.content)) span.content = Wording{name};
            for (std::size_t row = 1; row < rows.size(); ++row) {
                const Span::Content& other = rows[row].cells[column].spans()[i].content;
                if (auto* bytes = std::get_if<ByteCount>(&span.content))
                    bytes->bytes += std::get<ByteCount>(other).bytes;
                if (auto* share = std::get_if<Share>(&span.content))
                    share->part += std::get<Share>(other).part;
                if (auto* bar = std::get_if<Bar>(&span.content)) bar->part += std::get<Bar>(other).part;
            }
            cell += Text(std::move(span));
        }
        sum.cells[column] = std::move(cell);
    }
    return sum;
}

class BlockText {
public:
    using Write = std::function<void(std::string_view)>;
    BlockText(const Page& page, const Shorter& shorter) : page_(page), shorter_(shorter) {}

    void write(const std::vector<Block>& blocks, const Write& write) const {
        for (const Block& block : blocks) {
            if (const auto* table = std::get_if<TableBlock>(&block.content))
                write_table(*table, write);
            else
                write(std::visit(*this, block.content));
        }
    }

    std::string all(const std::vector<Block>& blocks) const {
        std::string text;
        write(blocks, [&](std::string_view part) { text += part; });
        return text;
    }

    std::string operator()(const Paragraph& paragraph) const {
        if (paragraph.secret && page_.redact().active()) return {};
        const std::size_t indent = blanks_a_level * paragraph.level;
        const StyledLine line(paragraph.text, page_, indent);
        const std::string tail = plain(paragraph.tail, page_);
        const std::size_t width = paragraph.broken ? page_.width : 0;
        return blanks(indent) +
               line.styled(wrapped_with_tail(line.words(), tail, width, indent + blanks_a_level, indent)) +
               "\n";
    }

    std::string operator()(const Hint& hint) const {
        const std::string next = "next: " + page_.command(plain(hint.command, page_)),
                          what_for = plain(hint.what_for, page_);
        if (what_for.empty()) return faint(next, page_.colour) + "\n";
        const bool fits =
            page_.width == 0 || display_width(next) + 4 + display_width(what_for) <= page_.width;
        const std::string below = "\n" + blanks(6);
        return faint(next + (fits ? "    " + what_for : below + wrapped(what_for, page_.width, 6, 6)),
                     page_.colour) +
               "\n";
    }

    std::string operator()(const Gap&) const { return "\n"; }

    std::string operator()(const Alternative& alternative) const {
        return all(shorter_.instead ? alternative.instead : alternative.blocks);
    }

    std::string operator()(const Masthead& head) const {
        const std::string name = plain(head.name, page_), who = plain(head.process, page_),
                          facts = plain(head.facts, page_);
        const std::size_t beside = display_width(name) + 3;
        // If the name is long for the page, it has a line of its own.
        const bool narrow = page_.width != 0 && beside > page_.width / 3;
        const std::size_t margin = narrow ? 2 : beside;
        const std::string line = name + "   " + who + "     " + facts;
        const bool fits = page_.width == 0 || display_width(line) <= page_.width;
        const std::string first = fits ? line
                                       : name + (narrow ? "\n" + blanks(margin) : blanks(3)) +
                                             wrapped(who, page_.width, margin, margin) + "\n" +
                                             blanks(margin) + wrapped(facts, page_.width, margin, margin);
        return first + "\n" + blanks(margin) +
               wrapped_with_tail(plain(head.state, page_), plain(head.where, page_), page_.width, margin,
                                 margin) +
               "\n";
    }

    std::string operator()(const TableBlock& block) const {
        std::string text;
        write_table(block, [&](std::string_view part) { text += part; });
        return text;
    }

private:
    void write_table(const TableBlock& block, const Write& write) const {
        Cells cells = collected(block);
        if (cells.rows.size() == 0) return;
        std::vector<TableColumn> columns;
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i < block.columns.size(); ++i) {
            const TextColumn& column = block.columns[i];
            const bool stays = !left_out(column) || (column.only_if_empty && cells.has_any[i]);
            if (!stays || (column.optional && !cells.has_any[i])) continue;
            which.push_back(i);
            std::string heading = plain(column.heading, page_);
            if (column.sorted) heading += " ▾";
            columns.push_back(
                {static_cast<TableColumn::Align>(column.align), std::move(heading), fit_of(column)});
        }
        Table table(std::move(columns));
        const std::size_t shown_rows = cells.rows.size();
        table.take(std::move(cells.rows), std::move(which));
        table.write(page_.width, page_.colour, blanks_a_level * block.level, write);
        write(rest_text(block, shown_rows, cells.bytes));
    }

    bool is_narrow(const TextColumn& column) const {
        return page_.width != 0 && page_.width < column.narrow_page;
    }
    bool left_out(const TextColumn& column) const { return is_narrow(column) && column.narrow_most == 0; }

    TableColumn::Fit fit_of(const TextColumn& column) const {
        return is_narrow(column) && column.narrow_most > 0 ? TableColumn::Fit::whole
                                                           : static_cast<TableColumn::Fit>(column.fit);
    }

    std::string cell_text(const TextColumn& column, const TableRow& row, const Text& cell,
                          const TableBlock& block) const {
        std::string text = plain(cell, page_);
        if (is_narrow(column) && column.narrow_most > 0)
            text = shortened_at_the_end(text, column.narrow_most);
        if (!column.tree) return text;
        const std::size_t depth = block.deepest == 0 ? row.depth : std::min(row.depth, block.deepest);
        return blanks(blanks_a_level * depth) + text;
    }

    Cells collected(const TableBlock& block) const {
        Cells cells;
        cells.has_any.resize(block.columns.size());
        std::vector<std::string> texts;
        const auto add = [&](const TableRow& row) {
            texts.clear();
            for (std::size_t i = 0; i < row.cells.size(); ++i) {
                const auto& spans = row.cells[i].spans();
                if (!spans.empty() && !std::holds_alternative<Nothing>(spans.front().content))
                    cells.has_any[i] = true;
                texts.push_back(cell_text(block.columns[i], row, row.cells[i], block));
            }
            cells.rows.add(texts);
            cells.bytes += row.bytes;
        };
        const bool all_details = shorter_.details == Shorter().details;
        const bool short_of = !all_details || (block.fewest > 0 && shorter_.rows_cut > 0) ||
                              (!block.folded.empty() && shorter_.folded);
        if (!short_of) {
            block.rows(add);
            return cells;
        }
        std::vector<TableRow> rows, small;
        block.rows([&](const TableRow& row) {
            if (row.detail <= shorter_.details) (row.small ? small : rows).push_back(row);
        });
        if (block.fewest > 0)
            rows.resize(std::max(block.fewest, rows.size() - std::min(rows.size(), shorter_.rows_cut)));
        for (const TableRow& row : rows) add(row);
        if (small.size() > 1 && shorter_.folded)
            add(folded_rows(small, block.folded));
        else
            for (const TableRow& row : small) add(row);
        return cells;
    }

    std::string rest_text(const TableBlock& block, std::size_t shown_rows, std::uint64_t shown_bytes) const {
        if (!block.rest || block.rest->rows <= shown_rows) return {};
        const TableRest& rest = *block.rest;
        return wrapped_with_tail(rest_words(rest, shown_rows, shown_bytes), "All: " + plain(rest.all, page_),
                                 page_.width, blanks_a_level) +
               "\n";
    }

    const Page& page_;
    const Shorter& shorter_;
};

/// What may give way in a list of blocks.
struct MayGiveWay {
    std::size_t rows = 0;  // beyond the fewest that a table keeps
    bool anything = false;
    std::uint8_t details = 0;  // the largest number
};

void look_for(const std::vector<Block>& blocks, MayGiveWay& found) {
    for (const Block& block : blocks) {
        if (const auto* alternative = std::get_if<Alternative>(&block.content)) {
            found.anything = true;
            look_for(alternative->blocks, found);
        }
        const auto* table = std::get_if<TableBlock>(&block.content);
        if (!table) continue;
        found.anything = found.anything || !table->folded.empty() || table->fewest > 0;
        table->rows([&](const TableRow& row) { found.details = std::max(found.details, row.detail); });
        found.anything = found.anything || found.details > 0;
        if (table->fewest == 0) continue;
        std::size_t rows = 0;
        table->rows([&](const TableRow&) { ++rows; });
        if (rows > table->fewest) found.rows = std::max(found.rows, rows - table->fewest);
    }
}

}  // namespace

std::string rest_words(const TableRest& rest, std::size_t shown_rows, std::uint64_t shown_bytes) {
    const std::uint64_t more = rest.rows - shown_rows;
    std::string text =
        "… " + (rest.singular.empty() ? grouped(more) + " more" : counted(more, rest.singular));
    if (rest.bytes)
        text +=
            fmt::format("; {} {} of {}",
                        shown_rows == 1 ? "this one is" : fmt::format("these {} are", grouped(shown_rows)),
                        percent(shown_bytes, *rest.bytes), rest.of);
    return text + ".";
}

std::string written(const Document& document, const Page& page) {
    Shorter shorter;
    const auto write = [&] { return BlockText(page, shorter).all(document.blocks); };
    MayGiveWay may;
    if (page.height > 0) look_for(document.blocks, may);
    std::string text = write();
    const auto fits = [&] {
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + for_others <=
               page.height;
    };
    if (!may.anything || fits()) return text;
    while (shorter.rows_cut < may.rows) {
        ++shorter.rows_cut;
        text = write();
        if (fits()) return text;
    }
    shorter.instead = true;
    text = write();
    if (fits()) return text;
    shorter.folded = true;
    text = write();
    for (shorter.details = may.details; shorter.details > 0 && !fits();) {
        --shorter.details;
        text = write();
    }
    return text;
}

void write_text(const Document& document, const Page& page,
                const std::function<void(std::string_view)>& write) {
    if (page.height > 0) return write(written(document, page));
    BlockText(page, Shorter()).write(document.blocks, write);
}

}  // namespace heapsift
