// Units. Sizes are binary (KiB, MiB, GiB) with one decimal, as other tools print them; readers compare three
// significant digits.

#include "cli/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace heapsift {
namespace {

constexpr std::array<const char*, 7> unit_names = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

// The power of 1024 that "", "K", "KiB" and "KB" stand for.
std::optional<int> unit_power(std::string_view unit) {
    if (unit.empty()) return 0;
    constexpr std::string_view letters = "bkmgtpe";
    const auto power = letters.find(static_cast<char>(std::tolower(static_cast<unsigned char>(unit[0]))));
    if (power == std::string_view::npos) return std::nullopt;
    std::string rest;
    for (char c : unit.substr(1)) rest += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!rest.empty() && (power == 0 || (rest != "b" && rest != "ib"))) return std::nullopt;
    return static_cast<int>(power);
}

}  // namespace

std::string grouped(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string grouped_signed(std::int64_t number) {
    if (number >= 0) return grouped(static_cast<std::uint64_t>(number));
    return fmt::format("-{}", grouped(~static_cast<std::uint64_t>(number) + 1));
}

std::string binary_size(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < unit_names.size()) {  // 1023.95 would be printed as 1024.0
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, unit_names[unit]);
}

std::string bytes_text(std::uint64_t bytes, bool exact) {
    return exact ? grouped(bytes) + " B" : binary_size(bytes);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    if (part == 0 || whole == 0) return "0 %";
    if (part == whole) return "100 %";
    const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (share < 0.1) return "< 0.1 %";
    if (share > 99 && share < 100) return "99 %";
    return share < 9.95 ? fmt::format("{:.1f} %", share) : fmt::format("{:.0f} %", share);
}

std::string percent_in_table(std::uint64_t part, std::uint64_t whole) {
    if (part == 0 || whole == 0) return "0.0 %";
    const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    return share < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
    if (count == 1) return fmt::format("1 {}", singular);
    return plural.empty() ? fmt::format("{} {}s", grouped(count), singular)
                          : fmt::format("{} {}", grouped(count), plural);
}

std::string hexadecimal(std::uint64_t value) { return fmt::format("0x{:x}", value); }

std::optional<std::int64_t> parse_quantity(std::string_view text) {
    std::size_t digits = 0;
    bool fraction = false;
    for (; digits < text.size(); ++digits) {
        if (text[digits] == '.' && !fraction && digits > 0)
            fraction = true;
        else if (!std::isdigit(static_cast<unsigned char>(text[digits])))
            break;
    }
    if (digits == 0 || text[digits - 1] == '.') return std::nullopt;
    std::string_view unit = text.substr(digits);
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    const std::optional<int> power = unit_power(unit);
    if (!power || (fraction && *power == 0)) return std::nullopt;
    const std::string number(text.substr(0, digits));
    if (!fraction && digits <= 18 && *power == 0) return std::strtoll(number.c_str(), nullptr, 10);
    const double value = std::ldexp(std::strtod(number.c_str(), nullptr), 10 * *power);
    if (!(value < 9.2e18)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

}  // namespace heapsift
