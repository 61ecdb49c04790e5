// A notebook or a job that is started every day has the day in its name, and a process its id. Two runs of it
// are one cause. A year has four digits, so a date is a number of four and two of one or two, in either
// order.

#include "analysis/suspects/general_numbers.h"

#include <algorithm>
#include <cctype>

namespace heapsift {
namespace {

constexpr std::size_t digits_of_year = 4, most_digits_of_day = 2;

std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
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
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
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
