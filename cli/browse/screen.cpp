// The parts of the screen, from above:
//
//     whose core this is                      one line, reversed
//     the five lists that a digit opens       one line
//     title, place in the list; a remark      two lines
//     headings                                one line
//     rows                                    what is left
//     about the row under the cursor          a fourth of the height, 5 to 12 lines, or more, up to 12, below a short
//                                             list; none on a low screen
//     keys, or what is being typed            one line

#include "cli/browse/screen.h"

#include "cli/table.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t lowest_with_details = 14, least_details = 5, most_details = 12;

using Pieces = std::vector<ScreenPiece>;

std::size_t width_of(const Pieces& pieces) {
    std::size_t width = 0;
    for (const ScreenPiece& piece : pieces) width += display_width(piece.text);
    return width;
}

/// In at most `width` columns, the end replaced by "…".
Pieces cut_to(Pieces pieces, std::size_t width) {
    if (width_of(pieces) <= width) return pieces;
    Pieces kept;
    std::size_t used = 0;
    for (ScreenPiece& piece : pieces) {
        const std::size_t columns = display_width(piece.text);
        if (used + columns < width) {
            used += columns;
            kept.push_back(std::move(piece));
            continue;
        }
        piece.text += "…";  // what follows is left out as well
        piece.text = shortened_at_the_end(piece.text, width - used);
        kept.push_back(std::move(piece));
        break;
    }
    return kept;
}

Pieces pieces_of(const Text& text, const Page& page) {
    Pieces pieces;
    for (const Span& span : text.spans()) {
        const Look look = span.style == Span::Style::bold    ? Look::bold
                          : span.style == Span::Style::faint ? Look::faint
                                                             : Look::plain;
        pieces.push_back({shown(span, page), look});
    }
    return pieces;
}

/// A cell in a column of so many columns of the terminal.
Pieces cell_of(const Text& text, const Page& page, std::size_t width) {
    const bool is_name =
        text.spans().size() == 1 && std::holds_alternative<TypeName>(text.spans().front().content);
    if (is_name) return {{shortened_in_the_middle(plain(text, page), width), Look::plain}};
    return cut_to(pieces_of(text, page), width);
}

class Drawing {
public:
    Drawing(Browser& browser, const std::string& identity, std::size_t width, std::size_t height)
        : browser_(browser),
          page_(browser.page()),
          identity_(identity),
          width_(std::max<std::size_t>(width, 20)),
          height_(height) {}

    std::vector<ScreenLine> all() {
        if (browser_.shows_help()) {
            help();
        } else {
            head();
            const std::size_t below = details_height() + 1;
            const std::size_t rows = height_ > lines_.size() + below ? height_ - lines_.size() - below : 0;
            rows_of_list(rows);
            details(details_height());
        }
        lines_.resize(height_ > 0 ? height_ - 1 : 0);
        last_line();
        lines_.resize(height_);
        return std::move(lines_);
    }

private:
    void add(Pieces pieces, bool filled = false) {
        lines_.push_back({cut_to(std::move(pieces), width_), filled});
    }

    std::size_t details_height() const {
        if (height_ < lowest_with_details) return 0;
        constexpr std::size_t other_lines =
            8;  // above the rows, with the headings; below them, with one of how many more
        const std::size_t taken = browser_.view().size() + other_lines;
        const std::size_t spare = height_ - std::min(height_, taken);
        return std::max(std::clamp(height_ / 4, least_details, most_details), std::min(spare, most_details)) +
               1;  // and a line above
    }

    void head() {
        add({{" " + identity_, Look::title}}, true);
        const std::pair<Place::Kind, const char*> tabs[] = {{Place::Kind::suspects, "1 suspects"},
                                                            {Place::Kind::dominators, "2 dominator tree"},
                                                            {Place::Kind::holders, "3 holders"},
                                                            {Place::Kind::types, "4 types"},
                                                            {Place::Kind::threads, "5 threads"}};
        Pieces line{{" ", Look::plain}};
        const ListView& view = browser_.view();
        for (const auto& [kind, name] : tabs) {
            const bool here = view.list().place.kind == kind;
            line.push_back({here ? std::string("[") + name + "]" : std::string(" ") + name + " ",
                            here ? Look::tab : Look::faint});
            line.push_back({" ", Look::plain});
        }
        if (!browser_.lists().marks().empty())
            line.push_back({"  M " + counted(browser_.lists().marks().size(), "mark"), Look::marked});
        add(std::move(line));
        const std::string place = view.empty() ? ""
                                               : "  " + grouped(view.cursor() + 1) + "/" +
                                                     grouped(view.size() + view.list().left_out);
        Pieces title = pieces_of(view.list().title, page_);
        for (ScreenPiece& piece : title) piece.look = Look::bold;
        title.insert(title.begin(), {" ", Look::plain});
        title = cut_to(std::move(title), width_ - std::min(width_, display_width(place) + 1));
        title.push_back({place, Look::faint});
        add(std::move(title));
        if (!view.filter_text().empty())
            add({{" filter: " + escape_for_terminal(view.filter_text()) + "  (Esc: all rows)",
                  Look::message}});
        else if (height_ >= lowest_with_details || !view.list().remark.empty())
            add({{" " + plain(view.list().remark, page_), Look::faint}});
    }

    struct Laid {
        std::size_t column, width;
    };

    /// The columns that fit, the last one with what is left.
    std::vector<Laid> lay_out(std::size_t first, std::size_t count) {
        ListView& view = browser_.view();
        const List& list = view.list();
        std::vector<Laid> laid;
        std::size_t used = 2;
        const auto lay = [&](std::size_t column) {
            std::size_t widest = display_width(heading(view, column));
            for (std::size_t at = first; at < std::min(view.size(), first + count); ++at)
                widest = std::max(widest, display_width(plain(view.row(at).cells[column], page_)));
            laid.push_back({column, widest});
            used += widest + 2 + (list.columns[column].bar ? bar_width() + 1 : 0);
        };
        for (std::size_t column = 0; column < list.columns.size(); ++column) {
            const ListColumn& one = list.columns[column];
            if (one.narrow_page <= width_) {
                lay(column);
            } else if (one.if_it_fits) {
                const std::size_t before = used;
                lay(column);
                if (used <= width_ + 2) continue;
                laid.pop_back();
                used = before;
            }
        }
        if (laid.empty()) return laid;
        if (used > width_ + 2) {  // what is in words gives way: the last column, then the one before it
            std::size_t over = used - width_ - 2;
            for (std::size_t at = laid.size(); at-- > 0 && over > 0;) {
                if (list.columns[laid[at].column].right) break;
                const std::size_t least =
                    at + 1 == laid.size() && laid.size() > 1 && !list.columns[laid[at - 1].column].right
                        ? std::min<std::size_t>(laid[at].width, 30)
                        : 8;
                const std::size_t given = std::min(over, laid[at].width - std::min(laid[at].width, least));
                laid[at].width -= given;
                over -= given;
            }
        }
        return laid;
    }

    static std::string heading(const ListView& view, std::size_t column) {
        const ListColumn& one = view.list().columns[column];
        return one.heading + (view.sorted_by() == column && !view.list().in_order ? " ▾" : "");
    }

    std::size_t bar_width() const { return width_ < 60 ? 0 : width_ < 120 ? 10 : 20; }

    void rows_of_list(std::size_t count) {
        ListView& view = browser_.view();
        const List& list = view.list();
        if (count > 0) --count;                                         // the headings
        view.scroll(count - (list.left_out > 0 && count > 2 ? 1 : 0));  // below the last one: how many more
        view.need(view.top(), count);
        const std::vector<Laid> laid = lay_out(view.top(), count);
        Pieces headings{{"  ", Look::faint}};
        for (const auto& [column, width] : laid) {
            const ListColumn& one = list.columns[column];
            const std::string text = shortened_at_the_end(heading(view, column), width);
            const bool last = column == laid.back().column;
            headings.push_back({one.right ? padded_left(text, width) + "  "
                                : last    ? text
                                          : padded_right(text, width) + "  ",
                                Look::faint});
            if (one.bar && bar_width() > 0)
                headings.push_back({std::string(bar_width() + 1, ' '), Look::faint});
        }
        add(std::move(headings));
        browser_.set_rows(lines_.size(), count);
        if (view.empty())
            add({{view.filter_text().empty() ? "  nothing" : "  nothing has that in it", Look::faint}});
        const std::size_t end = std::min(view.size(), view.top() + count);
        const std::size_t begin = lines_.size();
        for (std::size_t at = view.top(); at < end; ++at) row(at, laid);
        if (end == view.size() && list.left_out > 0 && lines_.size() < begin + count) {
            std::string rest = "  … " + grouped(list.left_out) + " more";
            if (list.left_out_bytes > 0) rest += ", " + page_.bytes(list.left_out_bytes);
            add({{rest + ": + lists them; f and / look among those above", Look::faint}});
        }
        lines_.resize(std::max(lines_.size(), begin + count));
    }

    void row(std::size_t at, const std::vector<Laid>& laid) {
        ListView& view = browser_.view();
        const List& list = view.list();
        const ListRow& row = view.row(at);
        const bool marked = browser_.lists().is_marked(row.subject.object);
        Pieces line{{at == view.cursor() ? ">" : " ", Look::plain}, {marked ? "*" : " ", Look::marked}};
        for (std::size_t i = 0; i < laid.size(); ++i) {
            const ListColumn& column = list.columns[laid[i].column];
            const bool last = i + 1 == laid.size();
            std::size_t room = last ? width_ - std::min(width_, width_of(line)) : laid[i].width;
            const Text& cell = row.cells[laid[i].column];
            if (column.right) {
                line.push_back({padded_left(plain(cell, page_), room) + "  ", Look::plain});
            } else {
                const std::size_t indent = std::min({row.depth * 2, room / 2, std::size_t{40}});
                Pieces words = cell_of(cell, page_, room - indent);
                if (indent > 0) words.insert(words.begin(), {std::string(indent, ' '), Look::plain});
                const std::size_t used = width_of(words);
                line.insert(line.end(), words.begin(), words.end());
                if (!last) line.push_back({std::string(room - std::min(room, used) + 2, ' '), Look::plain});
            }
            if (column.bar && bar_width() > 0) {
                const double share =
                    list.whole == 0 ? 0 : static_cast<double>(row.bytes) / static_cast<double>(list.whole);
                line.push_back(
                    {padded_right(share > 0 ? bar(std::min(share, 1.0), bar_width()) : "", bar_width()) + " ",
                     Look::bar});
            }
        }
        if (at == view.cursor())
            for (ScreenPiece& piece : line) piece.look = Look::cursor;
        add(std::move(line), at == view.cursor());
    }

    void say_wrapped(const std::string& text, Look look, std::size_t end) {
        const std::string lines = wrapped(text, width_ - 1, 3, 1);
        std::string line = " ";
        for (auto at = lines.begin(); lines_.size() < end; ++at) {
            if (at != lines.end() && *at != '\n') {
                line += *at;
                continue;
            }
            add({{std::exchange(line, {}), look}});
            if (at == lines.end()) break;
        }
    }

    void details(std::size_t height) {
        if (!browser_.shown_copy().empty()) return copied(std::max<std::size_t>(height, 6));
        if (height == 0) return;
        const std::size_t end = lines_.size() + height;
        std::string rule;
        for (std::size_t i = 0; i < width_; ++i) rule += "─";
        add({{rule, Look::faint}});
        const Subject* subject = browser_.subject();
        if (!subject) return;
        const std::string command = browser_.command();
        const std::size_t end_of_words = command.empty() ? end : end - 1;
        Look look = Look::bold;
        for (const Text& line : browser_.lists().details(*subject)) {
            if (lines_.size() >= end_of_words) break;
            say_wrapped(plain(line, page_), look, end_of_words);
            look = Look::plain;
        }
        if (!command.empty()) {
            lines_.resize(std::max(lines_.size(), end_of_words));
            add({{" y ", Look::key}, {command, Look::plain}});
        }
    }

    /// In full, from the left edge and without a frame, so that a mouse can copy it where the terminal refuses.
    void copied(std::size_t height) {
        std::size_t needed = 2;
        const std::string text = escape_for_terminal(browser_.shown_copy());
        std::vector<std::string> parts;
        std::string part;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t to = at + 1;
            while (to < text.size() && (static_cast<unsigned char>(text[to]) & 0xC0) == 0x80) ++to;
            const std::string character = text.substr(at, to - at);
            if (display_width(part + character) > width_) parts.push_back(std::exchange(part, {}));
            part += character;
            at = to;
        }
        parts.push_back(part);
        needed += parts.size();
        const std::size_t lines = std::max(height, needed);
        lines_.resize(height_ > lines + 1 ? height_ - lines - 1 : 0);
        add({{" copied to the terminal's clipboard, if it takes that (OSC 52); any key goes on",
              Look::message}},
            true);
        for (std::string& line : parts) add({{std::move(line), Look::plain}});
    }

    void help() {
        add({{" heapsift browse: the keys", Look::title}}, true);
        lines_.emplace_back();
        for (const auto& [keys, what] : browse_keys())
            add({{" " + padded_right(keys, 22), Look::key}, {" " + what, Look::plain}});
    }

    void last_line() {
        using Prompt = Browser::Prompt;
        const std::string typed = escape_for_terminal(browser_.typed());
        if (browser_.shows_help()) return add({{" any key goes on", Look::message}}, true);
        switch (browser_.prompt()) {
            case Prompt::search:
                return add({{" search: " + typed + "_", Look::key},
                            {browser_.message().empty() ? "" : "  " + browser_.message(), Look::message}});
            case Prompt::filter:
                return add({{" filter: " + typed + "_", Look::key}});
            case Prompt::go_to:
                return add({{" go to (0x… or app.CACHE['k']): " + typed + "_", Look::key}});
            case Prompt::none:
                break;
        }
        if (!browser_.message().empty())
            return add({{" " + escape_for_terminal(browser_.message()), Look::message}}, true);
        Pieces line;
        const std::pair<const char*, const char*> keys[] = {
            {"Enter", "open"}, {"Bksp", "back"}, {"w", "why"},   {"r", "referrers"}, {"e", "referents"},
            {"/", "search"},   {"s", "sort"},    {"?", "keys"},  {"q", "quit"},      {"f", "filter"},
            {"m", "mark"},     {"y", "copy"},    {"g", "go to"}, {"h", "history"},   {"t", "its type"}};
        for (const auto& [key, what] : keys) {
            Pieces more = line;
            more.push_back({std::string(" ") + key, Look::key});
            more.push_back({std::string(" ") + what + " ", Look::plain});
            if (width_of(more) > width_) break;
            line = std::move(more);
        }
        add(std::move(line));
    }

    Browser& browser_;
    const Page& page_;
    const std::string& identity_;
    std::size_t width_, height_;
    std::vector<ScreenLine> lines_;
};

}  // namespace

std::vector<ScreenLine> drawn(Browser& browser, const std::string& identity, std::size_t width,
                              std::size_t height) {
    return Drawing(browser, identity, width, height).all();
}

std::string text_of(const ScreenLine& line) {
    std::string text;
    for (const ScreenPiece& piece : line.pieces) text += piece.text;
    return text;
}

const std::vector<std::pair<std::string, std::string>>& browse_keys() {
    static const std::vector<std::pair<std::string, std::string>> keys = {
        {"1 2 3 4 5, Tab", "suspects, dominator tree, holders, types, threads"},
        {"Up Down PgUp PgDn", "move (also j k, Home, End, the wheel)"},
        {"Enter, Right, click", "open: what it keeps, or where it hangs"},
        {"Backspace, Left, Esc", "back to the list before"},
        {"h", "the lists you came through: jump back to one"},
        {"w", "why the object is alive: the path from a root"},
        {"r", "what refers to the object"},
        {"e", "what the object refers to"},
        {"i", "what it alone keeps alive"},
        {"t", "all objects of its type"},
        {"g", "go to an address or an expression"},
        {"/  n N", "search; the next, the one before"},
        {"f", "only rows with a text in them; Esc: all"},
        {"s", "sort by the next column"},
        {"+", "list ten times as many rows, where there are more"},
        {"m, M", "mark the object; the marked ones"},
        {"y, Y", "copy the command; what Python calls it"},
        {"q, Ctrl-C", "quit (Esc ends work that takes long)"},
    };
    return keys;
}

}  // namespace heapsift
