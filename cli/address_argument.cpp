// What counts as an address, and what may be an expression. Hexadecimal without 0x needs eight digits or
// more: shorter words such as "dead" or "face" are names.

#include "cli/address_argument.h"

#include "analysis/expression_text.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t least_bare_digits = 8;

std::optional<Address> parse_digits(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    return Address(value);
}

bool all_of(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

constexpr std::string_view hexadecimal_digits = "0123456789abcdefABCDEF";

bool has_prefix(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

// Every 0x… in a pasted repr, without repeats.
std::vector<Address> addresses_within(std::string_view text) {
    std::vector<Address> found;
    for (std::size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at + 2)) {
        const std::string_view rest = text.substr(at + 2);
        const auto address = parse_digits(
            rest.substr(0, std::min(rest.find_first_not_of(hexadecimal_digits), rest.size())), 16);
        if (address && std::find(found.begin(), found.end(), *address) == found.end())
            found.push_back(*address);
    }
    return found;
}

Error bad_address(std::string_view text, std::string hint) {
    return wrong_usage("bad-address", fmt::format("'{}' is not an address", text), std::move(hint));
}

}  // namespace

AddressArgument parse_address(std::string_view typed) {
    const std::string_view text = without_blanks(typed);
    AddressArgument argument{std::string(text), {}, false};
    if (text.starts_with('<') && text.ends_with('>')) {
        argument.readings = addresses_within(text);
        if (argument.readings.size() > 1) throw bad_address(text, "it contains several: give one, as 0x…");
    } else if (has_prefix(text)) {
        if (const auto address = parse_digits(text.substr(2), 16)) argument.readings.push_back(*address);
    } else {
        if (const auto address = parse_digits(text, 10)) argument.readings.push_back(*address);
        const bool bare = text.size() >= least_bare_digits && all_of(text, hexadecimal_digits);
        if (const auto address = bare ? parse_digits(text, 16) : std::nullopt)
            argument.readings.push_back(*address);
    }
    if (!argument.readings.empty()) return argument;
    if (text.empty())
        throw bad_address(
            text, "an address is needed, such as 0x7f31c2a4d5e0; " + command_line("objects") + " lists some");
    if (const std::string problem = expression_problem(text); !problem.empty())
        throw bad_address(text, problem);
    argument.expression = true;
    return argument;
}

bool looks_like_address(std::string_view text) {
    if (text.starts_with('<')) return !addresses_within(text).empty();
    if (has_prefix(text)) return all_of(text.substr(2), hexadecimal_digits);
    return text.size() >= least_bare_digits && all_of(text, hexadecimal_digits);
}

bool may_be_expression(std::string_view text) { return expression_problem(text).empty(); }

bool looks_like_expression(std::string_view text) {
    if (!may_be_expression(text)) return false;
    const std::size_t address = address_length(text);
    return text.find_first_of("[(") != std::string_view::npos || (address > 0 && address < text.size());
}

}  // namespace heapsift
