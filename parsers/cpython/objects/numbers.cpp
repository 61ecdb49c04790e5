// int, bool, float, complex: no references; an int's digits follow its header.
//
// Since 3.12 (longobject.h) lv_tag holds the number of digits, above three flag bits; before, ob_size holds
// it, with the sign. Digits have 30 bits. A result can be shorter than what was allocated for it, so a block
// may be larger than its int. In 2.7 that is a long; its int and bool have a C long (intobject.h).

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/float_text.h"
#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heapsift {

namespace {

struct Digits {
    std::uint64_t count = 0;
    bool negative = false;
};

Digits digits(const ObjectReader& object) {
    const auto& l = object.layout().long_;
    if (l.lv_tag.present()) {
        const auto tag = object.integer<std::uint64_t>(l.lv_tag);
        return {tag >> 3, (tag & 3) == 2};
    }
    const std::int64_t size = object.var_size();
    return {size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size), size < 0};
}

std::uint64_t int_size(const ObjectReader& object) {
    if (long_counts_its_class(object.layout())) return basic_size(object);
    const std::uint64_t count = std::min(digits(object).count, std::uint64_t{1} << 40);
    return *object.layout().long_.ob_digit + 4 * std::max(count, least_digits_counted(object.layout()));
}

std::uint64_t int_body(const ObjectReader& object) {
    return std::max(object.type().basicsize, *object.layout().long_.ob_digit +
                                                 4 * std::min(digits(object).count, std::uint64_t{1} << 40));
}

bool int_plausible(const ObjectReader& object) {
    const Digits d = digits(object);
    if (d.count > (std::uint64_t{1} << 32)) return false;
    if (d.count == 0) return true;
    const Address first = object.at(*object.layout().long_.ob_digit);
    const auto top = object.heap().memory().read<std::uint32_t>(first + 4 * (d.count - 1));
    return top && *top != 0 && *top < (1U << 30);
}

/// The magnitude in decimal digits, by repeated division; a long one in hexadecimal, with its length.
std::string int_text(const ObjectReader& object, std::uint64_t& length, bool& cut) {
    Digits d = digits(object);
    if (d.count > (std::uint64_t{1} << 40)) return "?";
    const Address first = object.at(*object.layout().long_.ob_digit);
    std::string text;
    if (d.count <= 40) {
        std::vector<std::uint32_t> limbs(d.count);
        if (d.count > 0 && !object.heap().memory().read_bytes(first, limbs.data(), d.count * 4)) return "?";
        do {
            std::uint64_t rest = 0;
            for (std::size_t i = limbs.size(); i-- > 0;) {
                const std::uint64_t value = (rest << 30) | limbs[i];
                limbs[i] = static_cast<std::uint32_t>(value / 10);
                rest = value % 10;
            }
            while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
            text += static_cast<char>('0' + rest);
        } while (!limbs.empty());
        std::reverse(text.begin(), text.end());
        length = text.size();
    } else {
        // Reads only the highest digit: the count may be false, so nothing is allocated for it.
        const auto top = object.heap().memory().read<std::uint32_t>(first + 4 * (d.count - 1));
        if (!top) return "?";
        length = (d.count - 1) * 30 * 30103 / 100000 + 1;
        text = fmt::format("{:#x}…", *top);
        cut = true;
    }
    return d.negative ? "-" + text : text;
}

ShortValue int_describe(const ObjectReader& object, std::size_t limit) {
    ShortValue value;
    value.kind = ShortValue::Kind::literal;
    value.text = int_text(object, value.length, value.cut);
    if (long_counts_its_class(object.layout()) && !value.cut) value.text += 'L';  // 2.7
    if (value.text.size() > limit) {
        value.text = value.text.substr(0, limit) + "…";
        value.cut = true;
    }
    return value;
}

ShortValue bool_describe(const ObjectReader& object, std::size_t) {
    return {
        .kind = ShortValue::Kind::name, .text = digits(object).count ? "True" : "False", .constant = true};
}

ShortValue old_int_describe(const ObjectReader& object, std::size_t) {
    std::string text = fmt::format("{}", object.heap().c_long(object.address()).value_or(0));
    const std::size_t length = text.size();
    return {ShortValue::Kind::literal, std::move(text), length};
}

ShortValue old_bool_describe(const ObjectReader& object, std::size_t) {
    const bool value = object.heap().c_long(object.address()).value_or(0) != 0;
    return {.kind = ShortValue::Kind::name, .text = value ? "True" : "False", .constant = true};
}

ShortValue float_describe(const ObjectReader& object, std::size_t) {
    const double number = object.integer<double>(object.layout().float_.ob_fval);
    std::string text = float_text(number);
    const std::size_t length = text.size();
    return {.kind = ShortValue::Kind::literal,
            .text = std::move(text),
            .length = length,
            .finite = std::isfinite(number),
            .nan = std::isnan(number)};
}

ShortValue complex_describe(const ObjectReader& object, std::size_t) {
    const auto& l = object.layout().complex;
    const double real = object.integer<double>(l.real);
    const double imag = object.integer<double>(l.imag);
    std::string text =
        real == 0 && !std::signbit(real) ? fmt::format("{}j", imag) : fmt::format("({}{:+}j)", real, imag);
    const std::size_t length = text.size();
    return {.kind = ShortValue::Kind::literal,
            .text = std::move(text),
            .length = length,
            .finite = std::isfinite(real) && std::isfinite(imag),
            .nan = std::isnan(real) || std::isnan(imag)};
}

constexpr const char* int_names[] = {"int"};
constexpr const char* bool_names[] = {"bool"};
constexpr const char* old_int_names[] = {"int of 2.7"};
constexpr const char* old_bool_names[] = {"bool of 2.7"};
constexpr const char* float_names[] = {"float"};
constexpr const char* complex_names[] = {"complex"};

}  // namespace

const ObjectKind int_kind = {.name = "int",
                             .type_names = int_names,
                             .size = int_size,
                             .body_size = int_body,
                             .describe = int_describe,
                             .plausible = int_plausible};
const ObjectKind bool_kind = {.name = "bool",
                              .type_names = bool_names,
                              .size = int_size,
                              .body_size = int_body,
                              .describe = bool_describe,
                              .plausible = int_plausible};
const ObjectKind old_int_kind = {.name = "C long", .type_names = old_int_names, .describe = old_int_describe};
const ObjectKind old_bool_kind = {
    .name = "bool of a C long", .type_names = old_bool_names, .describe = old_bool_describe};
const ObjectKind float_kind = {.name = "float", .type_names = float_names, .describe = float_describe};
const ObjectKind complex_kind = {
    .name = "complex", .type_names = complex_names, .describe = complex_describe};

}  // namespace heapsift
