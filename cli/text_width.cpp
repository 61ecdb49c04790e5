// Columns of text. The C library's wcwidth depends on the locale, and a tool run from cron has none, so the
// ranges are here: combining marks (general categories Mn and Me of the common scripts) and the wide ranges
// of Unicode TR 11. An address such as "0x7f31c2a4d5e0" is never cut in two: if text is shortened within one,
// the whole address goes.

#include "cli/text_width.h"

#include "parsers/base/text.h"

#include <algorithm>
#include <vector>

namespace heapsift {
namespace {

struct CharacterRange {
    char32_t first, last;
};

constexpr CharacterRange combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x6d6, 0x6dc},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0xe31, 0xe31},
    {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20f0},
    {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
constexpr CharacterRange wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x2705, 0x2705},
    {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};

template <std::size_t N>
bool is_in(const CharacterRange (&ranges)[N], char32_t c) {
    const auto* after =
        std::upper_bound(std::begin(ranges), std::end(ranges), c,
                         [](char32_t value, const CharacterRange& range) { return value < range.first; });
    return after != std::begin(ranges) && c <= (after - 1)->last;
}

std::size_t width_of(char32_t c) { return is_in(combining, c) ? 0 : is_in(wide, c) ? 2 : 1; }

// The longest beginning (or end) of `characters` that takes at most `width` columns; returns a number of
// characters.
template <class Iterator>
std::size_t fitting(Iterator first, Iterator last, std::size_t width) {
    std::size_t columns = 0, count = 0;
    for (; first != last && columns + width_of(first->value) <= width; ++first, ++count)
        columns += width_of(first->value);
    return count;
}

std::vector<DecodedCharacter> characters_of(std::string_view text) {
    std::vector<DecodedCharacter> characters;
    while (!text.empty()) {
        characters.push_back(decode_utf8(text));
        text.remove_prefix(characters.back().bytes);
    }
    return characters;
}

bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

struct Extent {
    std::size_t begin, end;
};

/// The bounds of the address that contains `at`; both are `at` if there is none.
Extent address_around(std::string_view text, std::size_t at) {
    std::size_t begin = at, end = at;
    while (begin > 0 && is_hexadecimal(text[begin - 1])) --begin;
    while (end < text.size() && is_hexadecimal(text[end])) ++end;
    if (begin > 1 && text[begin - 1] == 'x' && text[begin - 2] == '0') return {begin - 2, end};
    if (at < text.size() && text[at] == 'x' && at > 0 && text[at - 1] == '0') {
        end = at + 1;
        while (end < text.size() && is_hexadecimal(text[end])) ++end;
        return {at - 1, end};
    }
    return {at, at};
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const DecodedCharacter c = decode_utf8(text);
        columns += width_of(c.value);
        text.remove_prefix(c.bytes);
    }
    return columns;
}

std::string shortened_in_the_middle(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    const std::vector<DecodedCharacter> characters = characters_of(text);
    const std::size_t tail_width = width / 2;  // the last word of a name says more than the package
    const std::size_t head = fitting(characters.begin(), characters.end(), width - 1 - tail_width);
    std::size_t tail = fitting(characters.rbegin(), characters.rend(), tail_width);
    while (tail > 0 && width_of(characters[characters.size() - tail].value) == 0)
        --tail;  // drops combining marks without their letter
    std::size_t head_bytes = 0, tail_bytes = 0;
    for (std::size_t i = 0; i < head; ++i) head_bytes += characters[i].bytes;
    for (std::size_t i = 0; i < tail; ++i) tail_bytes += characters[characters.size() - 1 - i].bytes;
    const Extent before = address_around(text, head_bytes),
                 after = address_around(text, text.size() - tail_bytes);
    if (before.end > head_bytes) head_bytes = before.begin;
    const std::size_t rest = after.begin < text.size() - tail_bytes ? after.end : text.size() - tail_bytes;
    return std::string(text.substr(0, head_bytes)) + "…" + std::string(text.substr(rest));
}

std::string shortened_at_the_end(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    const std::vector<DecodedCharacter> characters = characters_of(text);
    const std::size_t head = fitting(characters.begin(), characters.end(), width - 1);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < head; ++i) bytes += characters[i].bytes;
    if (const Extent address = address_around(text, bytes); address.end > bytes) bytes = address.begin;
    return std::string(text.substr(0, bytes)) + "…";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t first) {
    if (width == 0 || first + display_width(text) <= width) return std::string(text);
    std::string lines;
    std::size_t column = first;
    while (!text.empty()) {
        // A word and the blanks before it: a line may end before them.
        const std::size_t word = std::min(text.find_first_not_of(' '), text.size());
        const std::size_t end = std::min(text.find(' ', word), text.size());
        const std::size_t columns = display_width(text.substr(0, end));
        if (column + columns > width && !lines.empty() && word > 0) {
            lines += '\n';
            lines.append(indent, ' ').append(text.substr(word, end - word));
            column = indent + columns - word;
        } else {
            lines += text.substr(0, end);
            column += columns;
        }
        text.remove_prefix(end);
    }
    return lines;
}

std::string wrapped_with_tail(std::string_view text, std::string_view tail, std::size_t width,
                              std::size_t indent, std::size_t first) {
    std::string lines = wrapped(text, width, indent, first);
    if (tail.empty()) return lines;
    const std::size_t last = lines.rfind('\n');
    const std::size_t column = last == std::string::npos
                                   ? first + display_width(lines)
                                   : display_width(std::string_view(lines).substr(last + 1));
    const bool fits = width == 0 || column + 1 + display_width(tail) <= width;
    if (fits)
        lines += ' ';
    else
        lines.append(1, '\n').append(indent, ' ');
    return lines.append(tail);
}

std::string padded_right(std::string_view text, std::size_t width) {
    const std::size_t columns = display_width(text);
    return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string padded_left(std::string_view text, std::size_t width) {
    const std::size_t columns = display_width(text);
    return std::string(columns < width ? width - columns : 0, ' ') + std::string(text);
}

}  // namespace heapsift
