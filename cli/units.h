#pragma once

// Numbers as people read them (1,234,567 and 10.9 MiB), and the reading of numbers that people type.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
std::string grouped_signed(std::int64_t number);

/// 11429478 as "10.9 MiB"; below 1 KiB whole bytes, "123 B". Never "1024.0 KiB": a size that rounds up to it
/// is printed in the next unit.
std::string binary_size(std::uint64_t bytes);

/// `binary_size`; if `exact` (--bytes), "11,429,478 B".
std::string bytes_text(std::uint64_t bytes, bool exact);

/// "26 %", "4.5 %", "< 0.1 %". "0 %" only if part is 0, "100 %" only if part equals whole.
std::string percent(std::uint64_t part, std::uint64_t whole);

/// The same with one decimal always, for a column: "26.0 %", "< 0.1 %".
std::string percent_in_table(std::uint64_t part, std::uint64_t whole);

/// "1 object", "2 objects", "1,234 objects".
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// "0x7f31c2a4d5e0".
std::string hexadecimal(std::uint64_t value);

/// Reads a number of bytes or a count: digits, with a fraction only before a unit; the unit is K, M, G or T,
/// also as KiB or KB (all powers of 1024, as in the output), in any case. Nothing if the text is not that, or
/// exceeds 63 bits.
std::optional<std::int64_t> parse_quantity(std::string_view text);

}  // namespace heapsift
