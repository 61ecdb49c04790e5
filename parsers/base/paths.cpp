#include "parsers/base/paths.h"

#include <algorithm>

namespace heapsift {
namespace {

/// A number, a date, a version or the hash of a commit, as folders of releases are called.
bool names_release(std::string_view folder) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto may_be_in_one = [&](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || c == '.' || c == '-' || c == '_';
    };
    if (folder.starts_with('v')) folder.remove_prefix(1);
    return std::any_of(folder.begin(), folder.end(), is_digit) &&
           std::all_of(folder.begin(), folder.end(), may_be_in_one);
}

}  // namespace

bool is_same_or_another_release(std::string_view a, std::string_view b) {
    for (;;) {
        const std::size_t end_a = a.find('/'), end_b = b.find('/');
        const std::string_view part_a = a.substr(0, end_a), part_b = b.substr(0, end_b);
        const bool is_last = end_a == std::string_view::npos || end_b == std::string_view::npos;
        if (part_a != part_b && (is_last || !names_release(part_a) || !names_release(part_b))) return false;
        if (is_last) return end_a == std::string_view::npos && end_b == std::string_view::npos;
        a.remove_prefix(end_a + 1);
        b.remove_prefix(end_b + 1);
    }
}

std::pair<std::string, std::string> names_apart(const std::string& a, const std::string& b) {
    const auto last = [](const std::string& path, int parts) {
        for (std::size_t end = path.size(); end > 0; --parts) {
            const std::size_t slash = path.rfind('/', end - 1);
            if (slash == std::string::npos) break;
            if (parts == 1) return path.substr(slash + 1);
            end = slash;
        }
        return path;
    };
    for (int parts = 1; last(a, parts) != a || last(b, parts) != b; ++parts)
        if (last(a, parts) != last(b, parts)) return {last(a, parts), last(b, parts)};
    return {a, b};
}

}  // namespace heapsift
