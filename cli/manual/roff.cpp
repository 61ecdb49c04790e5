// roff reads its input by lines. A line that begins with a dot or an apostrophe is a request, a backslash
// begins an escape, and a bare hyphen or quote may be set as a typographic one, which nobody can paste into a
// shell. All of that is escaped here (groff_char(7), mandoc_char(7)), and what is not ASCII is written by its
// code point, so that the page reads the same whatever the locale.
//
// The pages keep to what both groff and mandoc know of man(7), and to mandoc's lint: sentences begin on new
// lines, and no line of text is longer than 80 bytes.

#include "cli/manual/roff.h"

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t longest_line = 79;

std::string roff_character(const DecodedCharacter& character, bool literal) {
    switch (character.value) {
        case '\\':
            return "\\(rs";
        case '-':
            return literal ? "\\-" : "-";
        case '\'':
            return "\\(aq";
        case '"':
            return "\\(dq";
        case '`':
            return "\\(ga";
        case '^':
            return "\\(ha";
        case '~':
            return "\\(ti";
        default:
            return character.value < 0x80
                       ? std::string(1, static_cast<char>(character.value))
                       : fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(character.value));
    }
}

std::vector<std::string_view> lines_in(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::size_t blanks_before(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

bool ends_sentence(std::string_view word) {
    return word.size() > 2 && std::string_view(".:?!").find(word.back()) != std::string_view::npos;
}

/// The words of one paragraph.
std::string filled_lines(std::string_view paragraph) {
    std::string out, line;
    const auto end_line = [&] {
        if (!line.empty()) out += line + "\n";
        line.clear();
    };
    while (!paragraph.empty()) {
        paragraph.remove_prefix(std::min(paragraph.find_first_not_of(" \n"), paragraph.size()));
        const std::size_t end = std::min(paragraph.find_first_of(" \n"), paragraph.size());
        const std::string_view word = paragraph.substr(0, end);
        paragraph.remove_prefix(end);
        if (word.empty()) continue;
        const std::string written = roff(word, word.front() == '-');
        if (!line.empty() && line.size() + 1 + written.size() > longest_line) end_line();
        line += (line.empty() ? "" : " ") + written;
        if (ends_sentence(word)) end_line();
    }
    end_line();
    return out;
}

struct Definition {
    std::string word, meaning;
};

/// A line as "  key  meaning": where the meaning begins, if it is one.
std::optional<std::size_t> meaning_column(std::string_view line) {
    const std::size_t gap = line.find("  ", blanks_before(line));
    if (gap == std::string_view::npos) return std::nullopt;
    const std::size_t column = line.find_first_not_of(' ', gap);
    return column == std::string_view::npos ? std::nullopt : std::optional(column);
}

/// Indented lines as a list of words with meanings; empty if they are something else.
std::vector<Definition> definitions_in(const std::vector<std::string_view>& lines) {
    std::vector<Definition> found;
    const std::size_t indent = blanks_before(lines.front());
    const auto column = meaning_column(lines.front());
    if (!column) return {};
    for (const std::string_view line : lines) {
        if (blanks_before(line) == indent && meaning_column(line) == column) {
            const std::string_view word = line.substr(indent, line.find("  ", indent) - indent);
            found.push_back({std::string(word), std::string(line.substr(*column))});
        } else if (blanks_before(line) == *column && !found.empty()) {
            found.back().meaning += "\n" + std::string(line.substr(*column));
        } else {
            return {};
        }
    }
    return found;
}

std::string indented_block(const std::vector<std::string_view>& lines) {
    std::string out;
    if (const auto definitions = definitions_in(lines); !definitions.empty()) {
        for (const auto& [word, meaning] : definitions)
            out += ".TP\n" + roff_bold(word) + "\n" + filled_lines(meaning);
        return out;
    }
    std::size_t margin = lines.front().size(), widest = 0;
    for (const std::string_view line : lines) {
        margin = std::min(margin, blanks_before(line));
        widest = std::max(widest, line.size());
    }
    // A page indents its text by seven columns, and lines that were laid out for a terminal may not have so many left.
    constexpr std::size_t page_width = 80, indent_of_text = 7, least_indent = 2;
    const bool wide = widest - margin > page_width - indent_of_text;
    out = ".PP\n";
    if (wide) out += ".in " + std::to_string(least_indent) + "n\n";
    out += ".EX\n";
    for (const std::string_view line : lines) out += roff(line.substr(margin), true) + "\n";
    return out + ".EE\n" + (wide ? ".in\n" : "");
}

}  // namespace

std::string roff(std::string_view text, bool literal) {
    std::string out;
    if (!text.empty() && (text.front() == '.' || text.front() == '\'' || text.front() == ' ')) out = "\\&";
    while (!text.empty()) {
        const DecodedCharacter character = decode_utf8(text);
        if (character.valid && (character.value >= ' ' || character.value == '\t'))
            out += roff_character(character, literal);
        text.remove_prefix(character.bytes);
    }
    return out;
}

std::string roff_bold(std::string_view text) { return "\\fB" + roff(text, true) + "\\fR"; }
std::string roff_italic(std::string_view text) { return "\\fI" + roff(text, true) + "\\fR"; }

std::string roff_prose(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\n\n"), text.size());
        out += (out.empty() ? "" : ".PP\n") + filled_lines(text.substr(0, end));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return out;
}

std::string roff_layout(std::string_view text) {
    std::string out;
    const std::vector<std::string_view> lines = lines_in(text);
    for (std::size_t i = 0; i < lines.size();) {
        if (lines[i].empty()) {
            ++i;
            continue;
        }
        const bool indented = lines[i].front() == ' ';
        std::vector<std::string_view> block;
        while (i < lines.size() && !lines[i].empty() && (lines[i].front() == ' ') == indented)
            block.push_back(lines[i++]);
        if (indented) {
            out += indented_block(block);
        } else {
            std::string prose;
            for (const std::string_view line : block) prose += std::string(line) + "\n";
            out += ".PP\n" + filled_lines(prose);
        }
    }
    return out;
}

}  // namespace heapsift
