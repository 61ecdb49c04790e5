// A notebook or a job that is started every day has the day in its name, and a process its id. Two runs of it
// are one cause. A year has four digits, so a date is a number of four and two of one or two, in either
// order. Names that are made by chance are of a few kinds: tempfile's, UUIDs, digests. What stands in angle
// brackets is no file, but what made the code calls it, often with a count: "<ipython-input-3-c329c7c45a3f>",
// "<doctest shop.cart[3]>", "<decorator-gen-12>". What is typed at Python's prompt is "<stdin>", in 3.13
// "<stdin>-1" and then "<stdin-1>", or, with its line editor, "<python-input-1>".

#include "analysis/suspects/general_numbers.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t digits_of_year = 4, most_digits_of_day = 2;
constexpr std::size_t letters_of_digest =
    12;  // of a longer name those that are one word of hexadecimal digits
constexpr std::size_t parts_of_uuid[] = {8, 4, 4, 4, 12};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::size_t end_of_word(std::string_view text, std::size_t at) {
    while (at < text.size() && (is_digit(text[at]) || is_letter(text[at]))) ++at;
    return at;
}

/// Whether it is hexadecimal, with digits and letters as chance has them, and not longer than SHA-512's.
bool is_digest(std::string_view word) {
    constexpr std::size_t longest = 128, least_part_of_digits = 8;
    const auto digits = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_digit));
    return word.size() <= longest && std::all_of(word.begin(), word.end(), is_hexadecimal) &&
           digits < word.size() && digits * least_part_of_digits >= word.size();
}

/// Where the UUID ends that begins at `from`; `from` if none does.
std::size_t end_of_uuid(std::string_view text, std::size_t from) {
    std::size_t at = from;
    for (const std::size_t count : parts_of_uuid) {
        if (at != from) {
            if (at >= text.size() || text[at] != '-') return from;
            ++at;
        }
        const std::size_t end = end_of_word(text, at);
        const std::string_view word = text.substr(at, end - at);
        if (word.size() != count || !std::all_of(word.begin(), word.end(), is_hexadecimal)) return from;
        at = end;
    }
    return at;
}

/// Where the name ends that begins at `from` and is made by chance; `from` if none does.
std::size_t end_of_chance(std::string_view text, std::size_t from, std::size_t letters) {
    if (const std::size_t end = end_of_uuid(text, from); end > from) return end;
    const std::size_t end = end_of_word(text, from);
    return end - from >= letters && is_digest(text.substr(from, end - from)) ? end : from;
}

/// "tmp", and eight letters, digits and "_" (tempfile._RandomNameSequence).
bool is_temporary(std::string_view name) {
    constexpr std::string_view before = "tmp";
    constexpr std::size_t by_chance = 8;
    const std::size_t end = before.size() + by_chance;
    if (!name.starts_with(before) || name.size() < end) return false;
    return std::all_of(name.begin() + before.size(), name.begin() + end,
                       [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_'; }) &&
           (name.size() == end || name[end] == '.');
}

/// Where a title ends that is the whole of `text`, "<…>" or "<…>-N"; 0 of anything else.
std::size_t end_of_title(std::string_view text) {
    const std::size_t end = text.rfind('>');
    if (!text.starts_with('<') || end == std::string_view::npos || end < 2) return 0;
    const std::string_view behind = text.substr(end + 1);
    const bool is_count =
        behind.size() > 1 && behind.front() == '-' && std::all_of(behind.begin() + 1, behind.end(), is_digit);
    return behind.empty() || is_count ? end + 1 : 0;
}

/// Of "<…>": each number that is no part of a name, each digest.
std::string general_title(std::string_view text) {
    constexpr std::size_t letters = 8;
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const bool in_name = at > 0 && text[at - 1] == '_';
        std::size_t end = end_of_word(text, at);
        if (end == at) {
            result += text[at++];
            continue;
        }
        const std::size_t of_chance = end_of_chance(text, at, letters);
        if (!in_name && (of_chance > at || is_digit(text[at])))
            result += '#';
        else
            result += general_numbers(text.substr(at, end - at), digits_of_files);
        at = std::max(end, of_chance);
    }
    return result == "<python-input-#>" || result == "<stdin-#>" ? "<stdin>" : result;
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

/// Where the date ends that begins at `from`; `from` if none does.
std::size_t end_of_date(std::string_view text, std::size_t from) {
    std::size_t digits[3] = {}, at = from;
    char between = 0;
    for (std::size_t part = 0; part < 3; ++part) {
        if (part > 0) {
            if (at >= text.size() || std::string_view("-_.").find(text[at]) == std::string_view::npos)
                return from;
            if (part > 1 && text[at] != between) return from;
            between = text[at++];
        }
        const std::size_t end = end_of_number(text, at);
        digits[part] = end - at;
        at = end;
    }
    const auto is_day = [](std::size_t count) { return count >= 1 && count <= most_digits_of_day; };
    const bool year_first = digits[0] == digits_of_year && is_day(digits[2]);
    const bool year_last = digits[2] == digits_of_year && is_day(digits[0]);
    return is_day(digits[1]) && (year_first || year_last) ? at : from;
}

}  // namespace

std::string general_numbers(std::string_view text, std::size_t digits) {
    if (const std::size_t end = end_of_title(text); end > 0) return general_title(text.substr(0, end));
    std::string result;
    std::size_t first = 0;
    if (is_temporary(text)) {
        result = "tmp#";
        first = text.find('.') == std::string_view::npos ? text.size() : text.find('.');
    }
    for (std::size_t at = first; at < text.size();) {
        const bool begins = at == 0 || end_of_word(text, at - 1) == at - 1;  // a word
        if (const std::size_t of_chance = begins ? end_of_chance(text, at, letters_of_digest) : at;
            of_chance > at) {
            result += '#';
            at = of_chance;
            continue;
        }
        const std::size_t end = end_of_number(text, at);
        if (end == at) {
            result += text[at++];
            continue;
        }
        const std::size_t of_date = end_of_date(text, at);
        if (of_date > at || end - at >= digits)
            result += '#';
        else
            result += text.substr(at, end - at);
        at = std::max(end, of_date);
    }
    return result;
}

}  // namespace heapsift
