// Numbers that are no int or float, and what consists of numbers: Decimal, Fraction, range, slice.
//
// A Decimal holds an mpd_t (libmpdec's mpdecimal.h): flags, exponent, count of decimal digits, count of words, room,
// and a pointer to words of 19 decimal digits each, the lowest first. Where the layouts have two of its fields,
// the others lie between them in that order. Its text is made by the rules of the General Decimal Arithmetic
// Specification ("to-scientific-string"), as str() does.

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint8_t decimal_negative = 1, decimal_infinity = 2, decimal_nan = 4, decimal_snan = 8,
                       decimal_special = decimal_infinity | decimal_nan | decimal_snan;
constexpr std::int64_t digits_a_word = 19;
constexpr std::uint64_t word_end = 10000000000000000000U;  // 10 to the 19th
constexpr std::int64_t least_adjusted = -6;                // smaller numbers have an exponent
constexpr std::int64_t most_digits = 400;
constexpr std::int64_t largest_exponent = 2000000000000000000;
constexpr std::size_t shown_digits = 100;

/// All digits, highest first; nothing if there are too many, or they are none.
std::optional<std::string> decimal_digits(const PythonHeap& heap, Address words, std::int64_t digits,
                                          std::int64_t word_count) {
    if (digits < 0 || digits > most_digits || word_count != (digits + digits_a_word - 1) / digits_a_word)
        return std::nullopt;
    std::string text;
    for (std::int64_t i = word_count; i-- > 0;) {
        const auto word = heap.memory().read<std::uint64_t>(words + 8 * static_cast<std::uint64_t>(i));
        if (!word || *word >= word_end) return std::nullopt;
        text += i + 1 == word_count ? fmt::format("{}", *word) : fmt::format("{:019}", *word);
    }
    return static_cast<std::int64_t>(text.size()) == digits ? std::optional(text) : std::nullopt;
}

std::string scientific(const std::string& digits, std::int64_t exponent) {
    const auto count = static_cast<std::int64_t>(digits.size());
    const std::int64_t adjusted = exponent + count - 1;
    if (exponent <= 0 && adjusted >= least_adjusted) {
        if (exponent == 0) return digits;
        const std::int64_t before = count + exponent;  // digits before the point
        if (before > 0)
            return digits.substr(0, static_cast<std::size_t>(before)) + "." +
                   digits.substr(static_cast<std::size_t>(before));
        return "0." + std::string(static_cast<std::size_t>(-before), '0') + digits;
    }
    return digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") + fmt::format("E{:+}", adjusted);
}

ShortValue decimal(const Describing& of) {
    const auto& l = of.object.layout().decimal;
    if (!l.dec_flags.present() || !l.dec_alloc.present() || !l.dec_data.present() ||
        *l.dec_alloc != *l.dec_flags + 32)
        return {};
    const Address exponent_at = of.object.at(*l.dec_alloc - 24);
    const auto flags = of.object.integer<std::uint8_t>(l.dec_flags);
    const auto exponent = of.heap().integer<std::int64_t>(exponent_at);
    const auto count = of.heap().integer<std::int64_t>(exponent_at + 8);
    const auto words = of.heap().integer<std::int64_t>(exponent_at + 16);
    if (words < 0 || words > of.object.integer<std::int64_t>(l.dec_alloc)) return {};
    const std::string sign = flags & decimal_negative ? "-" : "";
    if (flags & decimal_infinity) return whole_literal_value("Decimal('" + sign + "Infinity')");
    const bool nan = (flags & (decimal_nan | decimal_snan)) != 0;
    if (nan && count == 0) {
        ShortValue value =
            whole_literal_value("Decimal('" + sign + (flags & decimal_snan ? "s" : "") + "NaN')");
        value.nan = true;
        return value;
    }
    if (count > most_digits)
        return {.kind = ShortValue::Kind::literal,
                .text = fmt::format("Decimal of {} digits", count),
                .length = static_cast<std::uint64_t>(count),
                .cut = true};
    const auto digits = decimal_digits(of.heap(), of.object.pointer(l.dec_data), count, words);
    if (!digits || exponent < -largest_exponent || exponent > largest_exponent) return {};
    std::string text =
        nan ? std::string(flags & decimal_snan ? "sNaN" : "NaN") + *digits : scientific(*digits, exponent);
    const bool cut = text.size() > shown_digits;
    if (cut) text = text.substr(0, shown_digits) + "…";
    ShortValue value = whole_literal_value("Decimal('" + sign + text + "')");
    value.cut = cut;
    value.nan = nan;
    return value;
}

ShortValue fraction(const Describing& of) {
    const Address numerator = stored_attribute(of.object, "_numerator"),
                  denominator = stored_attribute(of.object, "_denominator");
    if (numerator.is_null() || denominator.is_null()) return {};
    ValueText value(of, short_name(of.object.type().name) + "(");
    return std::move(value.part(numerator).add(", ").part(denominator)).literal();
}

ShortValue range(const Describing& of) {
    const auto& l = of.object.layout().range;
    const Address step = of.object.pointer(l.step);
    if (step.is_null()) return {};
    ValueText value(of, "range(");
    value.part(of.object.pointer(l.start)).add(", ").part(of.object.pointer(l.stop));
    if (int_value(of.heap(), step) != 1) value.add(", ").part(step);
    return std::move(value).literal();
}

ShortValue slice(const Describing& of) {
    const auto& l = of.object.layout().slice;
    if (of.object.pointer(l.step).is_null()) return {};
    ValueText value(of, "slice(");
    value.part(of.object.pointer(l.start)).add(", ").part(of.object.pointer(l.stop)).add(", ");
    return std::move(value.part(of.object.pointer(l.step))).literal();
}

constexpr ValueRow number_rows[] = {{"decimal.Decimal", decimal},
                                    {"fractions.Fraction", fraction, false},
                                    {"range", range},
                                    {"slice", slice}};

}  // namespace

std::span<const ValueRow> number_values() { return number_rows; }

}  // namespace heapsift
