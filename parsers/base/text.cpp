// Escaping, and the distance between words. Spelled out are the characters that terminals act upon (C0, DEL
// and C1 controls) and the Unicode characters that can make one text look like another: Bidi_Control, zero
// width, line and paragraph separators, tags (Unicode TR 36, "Unicode Security Considerations").

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace heapsift {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool is_hidden(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

// $'…' of bash, zsh and POSIX 2024. Octal, because it ends after three digits; some shells read on after
// \xNN.
std::string quoted_with_escapes(std::string_view word) {
    std::string quoted = "$'";
    for (char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\'' || c == '\\')
            quoted += std::string("\\") + c;
        else if (byte >= 0x20 && byte < 0x7f)
            quoted += c;
        else
            quoted += fmt::format("\\{:03o}", byte);
    }
    return quoted + "'";
}

}  // namespace

DecodedCharacter decode_utf8(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const DecodedCharacter invalid{first, 1, false};
    if (first < 0x80) return {first, 1, true};
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return invalid;
    char32_t value = first & (0xff >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i])) return invalid;
        value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    }
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return invalid;
    return {value, length, true};
}

std::string escape_for_terminal(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
        return std::string(text);
    std::string escaped;
    escaped.reserve(text.size());
    while (!text.empty()) {
        const DecodedCharacter c = decode_utf8(text);
        if (!c.valid)
            escaped += fmt::format("\\x{:02x}", static_cast<unsigned>(c.value));
        else if (c.value == '\n')
            escaped += "\\n";
        else if (c.value == '\r')
            escaped += "\\r";
        else if (c.value == '\t')
            escaped += "\\t";
        else if (is_hidden(c.value))
            escaped += c.value < 0x100     ? fmt::format("\\x{:02x}", static_cast<unsigned>(c.value))
                       : c.value < 0x10000 ? fmt::format("\\u{:04x}", static_cast<unsigned>(c.value))
                                           : fmt::format("\\U{:08x}", static_cast<unsigned>(c.value));
        else
            escaped += text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
    }
    return escaped;
}

std::string_view base_name(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

bool is_identifier(std::string_view text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0;
    };
    const auto is_good = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_good);
}

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view harmless =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
    if (escape_for_terminal(word) != word) return quoted_with_escapes(word);
    const bool double_quotes =
        word.find('\'') != std::string_view::npos && word.find_first_of("\"$`\\!") == std::string_view::npos;
    if (double_quotes) return "\"" + std::string(word) + "\"";
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string system_reason(int error_number) {
    std::string text = std::strerror(error_number);
    if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a')
        text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Optimal string alignment: three rows of the table are enough, since a swap looks two rows back.
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), above(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[b.size()];
}

std::vector<std::string> nearest_words(std::string_view word, std::span<const std::string> candidates,
                                       std::size_t limit) {
    struct Near {
        std::size_t distance;
        const std::string* candidate;
    };
    // The table is quadratic, and nobody mistypes more than that.
    constexpr std::size_t longest_compared = 200;
    std::vector<Near> near;
    if (word.size() > longest_compared) return {};
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest_compared) continue;
        const std::size_t distance = edit_distance(word, candidate);
        const bool begins = word.size() >= 2 && candidate.starts_with(word);
        if (begins || distance <= std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3))
            near.push_back({begins ? 0 : distance, &candidate});
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const Near& a, const Near& b) { return a.distance < b.distance; });
    std::vector<std::string> words;
    for (std::size_t i = 0; i < near.size() && i < limit; ++i) words.push_back(*near[i].candidate);
    return words;
}

}  // namespace heapsift
