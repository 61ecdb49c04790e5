#pragma once

// Numbers as people read them: 1,234,567 and 10.9 MiB; and back again, from what people type.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
std::string grouped_signed(std::int64_t number);

/// 11429478 as "10.9 MiB"; below 1 KiB whole bytes, "123 B". Never "1024.0 KiB": what rounds up to it is the
/// next unit.
std::string binary_size(std::uint64_t bytes);

/// `binary_size`, or exact bytes, "11,429,478 B", where `exact` (--bytes).
std::string bytes_text(std::uint64_t bytes, bool exact);

/// "26 %", "4.5 %", "< 0.1 %"; "0 %" only where part is 0, "100 %" only where part is whole.
std::string percent(std::uint64_t part, std::uint64_t whole);

/// The same with one decimal throughout, for a column: "26.0 %", "< 0.1 %".
std::string percent_in_table(std::uint64_t part, std::uint64_t whole);

/// "1 object", "2 objects", "1,234 objects".
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// "0x7f31c2a4d5e0".
std::string hexadecimal(std::uint64_t value);

/// What people type for a number of bytes or a count: digits, with a fraction where a unit follows; units K,
/// M, G, T, each also as KiB or KB (all 1024 based, as in the output), any case. Nothing where it is not
/// that, or does not fit 63 bits.
std::optional<std::int64_t> parse_quantity(std::string_view text);

}  // namespace heapsift
