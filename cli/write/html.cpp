#include "cli/write/html.h"

#include "cli/text_width.h"
#include "cli/write/spans.h"
#include "cli/write/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t longest_html_span = 300;  // columns
constexpr std::size_t deepest_html_class = 12;  // page.css has d1 to d12
constexpr std::size_t rows_to_filter = 10;      // a table with more has a field for words
constexpr std::size_t rows_to_print = 60;       // of a longer one page.css prints so many

/// A bar without a style of its own.
std::string html_bar(const Bar& bar) {
    if (bar.whole == 0) return {};
    const double share =
        std::min(100.0, 100.0 * static_cast<double>(bar.part) / static_cast<double>(bar.whole));
    return fmt::format(
        R"(<svg class="bar{}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="{:.2f}" height="8"/></svg>)",
        bar.colour == 0 ? "" : fmt::format(" c{}", bar.colour - 1), share);
}

bool is_code(const Span::Content& content) {
    return std::holds_alternative<Address>(content) || std::holds_alternative<Expression>(content) ||
           std::holds_alternative<Target>(content) || std::holds_alternative<CommandLine>(content) ||
           std::holds_alternative<Notation>(content);
}

std::string html_span(const Span& span, const Page& page) {
    if (const auto* bar = std::get_if<Bar>(&span.content)) return html_bar(*bar);
    const std::string text = escape_for_html(shortened_at_the_end(shown(span, page), longest_html_span));
    if (text.empty()) return {};
    const std::string inside = std::holds_alternative<Address>(span.content)
                                   ? "<code class=\"a\">" + text + "</code>"
                               : is_code(span.content) ? "<code>" + text + "</code>"
                                                       : text;
    switch (span.style) {
        case Span::Style::bold:
            return "<b>" + inside + "</b>";
        case Span::Style::faint:
            return "<small>" + inside + "</small>";
        case Span::Style::plain:
            break;
    }
    return inside;
}

/// The number by which a cell is sorted: that of its first span that is one.
std::optional<std::string> html_number(const Text& cell) {
    for (const Span& span : cell.spans()) {
        if (const auto* count = std::get_if<Count>(&span.content)) return fmt::format("{}", count->number);
        if (const auto* count = std::get_if<SignedCount>(&span.content))
            return fmt::format("{}", count->number);
        if (const auto* bytes = std::get_if<ByteCount>(&span.content)) return fmt::format("{}", bytes->bytes);
        if (const auto* growth = std::get_if<Growth>(&span.content)) return fmt::format("{}", growth->number);
        if (const auto* share = std::get_if<Share>(&span.content))
            return share->whole == 0 ? "0"
                                     : fmt::format("{:.6f}", static_cast<double>(share->part) /
                                                                 static_cast<double>(share->whole));
    }
    return std::nullopt;
}

class HtmlBlocks {
public:
    using Write = std::function<void(std::string_view)>;
    HtmlBlocks(const Page& page, std::string_view caption, const Write& write)
        : page_(page), caption_(caption), write_(write) {}

    void all(const std::vector<Block>& blocks) const {
        for (const Block& block : blocks) std::visit(*this, block.content);
    }

    void operator()(const Paragraph& paragraph) const {
        if (paragraph.secret && page_.redact().active()) return;
        std::string text = html_of(paragraph.text, page_);
        if (const std::string tail = html_of(paragraph.tail, page_); !tail.empty())
            text += (text.empty() ? "" : " ") + tail;
        if (text.empty()) return;
        write_(paragraph.level == 0 ? fmt::format("<p>{}</p>\n", text)
                                    : fmt::format("<p class=\"d{}\">{}</p>\n",
                                                  std::min(paragraph.level, deepest_html_class), text));
    }
    void operator()(const Hint& hint) const {
        const std::string what_for = html_of(hint.what_for, page_);
        write_(fmt::format("<p class=\"next\">next: <code>{}</code>{}</p>\n",
                           escape_for_html(page_.command(plain(hint.command, page_))),
                           what_for.empty() ? "" : " — " + what_for));
    }
    void operator()(const Gap&) const {}
    void operator()(const Alternative& alternative) const { all(alternative.blocks); }
    void operator()(const Masthead& head) const {
        std::string state = html_of(head.state, page_);
        if (const std::string where = html_of(head.where, page_); !where.empty()) state += " " + where;
        write_(fmt::format("<h1>{}</h1>\n<p class=\"who\">{}</p>\n<p>{}</p>\n<p>{}</p>\n",
                           html_of(head.name, page_), html_of(head.process, page_),
                           html_of(head.facts, page_), state));
    }
    void operator()(const TableBlock& block) const {
        std::vector<std::vector<std::string>> rows;
        std::vector<bool> has_any(block.columns.size());
        const bool headed = std::any_of(block.columns.begin(), block.columns.end(),
                                        [](const TextColumn& column) { return !column.heading.empty(); });
        const bool tree = !headed || std::any_of(block.columns.begin(), block.columns.end(),
                                                 [](const TextColumn& column) { return column.tree; });
        std::vector<std::string> labels;
        for (const TextColumn& column : block.columns) labels.push_back(tree ? label(column) : "");
        std::uint64_t bytes = 0;
        block.rows([&](const TableRow& row) {
            std::vector<std::string> cells;
            for (std::size_t i = 0; i < row.cells.size(); ++i)
                cells.push_back(cell(block, row, i, labels[i], has_any));
            rows.push_back(std::move(cells));
            bytes += row.bytes;
        });
        if (rows.empty()) return;
        // What is indented below a row belongs to it: such a table is not sorted.
        write_(fmt::format(
            "<div class=\"wide{2}\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"{1}\">"
            "<caption>{0}</caption>\n",
            escape_for_html(caption_),
            tree                           ? "tree"
            : rows.size() > rows_to_filter ? "sorts filters"
                                           : "sorts",
            rows.size() > rows_to_print ? " many" : ""));
        if (headed) {
            write_("<thead><tr>");
            for (std::size_t i = 0; i < block.columns.size(); ++i)
                if (has_any[i]) write_(heading(block.columns[i], !labels[i].empty()));
            write_("</tr></thead>\n");
        }
        write_("<tbody>\n");
        std::string line;
        for (const std::vector<std::string>& row : rows) {
            line = "<tr>";
            for (std::size_t i = 0; i < row.size(); ++i)
                if (has_any[i]) line += row[i];
            write_(line + "</tr>\n");
        }
        write_("</tbody></table></div>\n");
        if (block.rest && block.rest->rows > rows.size())
            write_(fmt::format("<p class=\"rest\">{} All: <code>{}</code></p>\n",
                               escape_for_html(rest_words(*block.rest, rows.size(), bytes)),
                               escape_for_html(plain(block.rest->all, page_))));
    }

private:
    /// On a narrow page the cells of a tree stand in lines, below no heading: a number has its own before it. A heading
    /// that is a number itself is a sum, and stays.
    std::string label(const TextColumn& column) const {
        if (column.align != TextColumn::Align::right || html_number(column.heading)) return {};
        return escape_for_html(plain(column.heading, page_));
    }

    std::string heading(const TextColumn& column, bool labelled) const {
        const std::string words = html_of(column.heading, page_);
        const char* align = labelled                                   ? " class=\"n l\""
                            : column.align == TextColumn::Align::right ? " class=\"n\""
                                                                       : "";
        const char* sorted = column.sorted ? " aria-sort=\"descending\"" : "";
        return words.empty() ? fmt::format("<td{}></td>", align)
                             : fmt::format("<th scope=\"col\"{}{}>{}</th>", align, sorted, words);
    }

    std::string cell(const TableBlock& block, const TableRow& row, std::size_t i, const std::string& label,
                     std::vector<bool>& has_any) const {
        const auto& spans = row.cells[i].spans();
        if (!spans.empty() && !std::holds_alternative<Nothing>(spans.front().content)) has_any[i] = true;
        const TextColumn& column = block.columns[i];
        const std::size_t depth =
            !column.tree ? 0
                         : std::min(block.deepest == 0 ? row.depth : std::min(row.depth, block.deepest),
                                    deepest_html_class);
        std::string classes = column.align == TextColumn::Align::right ? "n" : "";
        if (depth > 0) classes += fmt::format("{}d{}", classes.empty() ? "" : " ", depth);
        std::string attributes = classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
        if (const auto number = html_number(row.cells[i]); number && column.align == TextColumn::Align::right)
            attributes += " data-v=\"" + *number + "\"";
        const std::string html = html_of(row.cells[i], page_);
        if (!label.empty() && !html.empty()) attributes += " data-l=\"" + label + "\"";
        return "<td" + attributes + ">" + html + "</td>";
    }

    const Page& page_;
    std::string_view caption_;
    const Write& write_;
};

}  // namespace

std::string escape_for_html(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) switch (const char c = text[i]; c) {
            case '\xef':  // U+FFFE and U+FFFF, which XML does not allow, are written out
                if (text.substr(i + 1, 1) == "\xbf" &&
                    (text.substr(i + 2, 1) == "\xbe" || text.substr(i + 2, 1) == "\xbf")) {
                    safe += text[i + 2] == '\xbe' ? "\\ufffe" : "\\uffff";
                    i += 2;
                } else {
                    safe += c;
                }
                break;
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\'':
                safe += "&#39;";
                break;
            default:
                safe += c;
        }
    return safe;
}

std::string escape_json_for_script(std::string_view json) {
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) switch (c) {  // each stands only inside of strings
            case '<':
                safe += "\\u003c";
                break;
            case '>':
                safe += "\\u003e";
                break;
            case '&':
                safe += "\\u0026";
                break;
            default:
                safe += c;
        }
    return safe;
}

std::string html_of(const Text& text, const Page& page) {
    std::string html;
    for (const Span& span : text.spans()) html += html_span(span, page);
    return html;
}

void write_html(const std::vector<Block>& blocks, const Page& page, std::string_view caption,
                const std::function<void(std::string_view)>& write) {
    HtmlBlocks(page, caption, write).all(blocks);
}

}  // namespace heapsift
