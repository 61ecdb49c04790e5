#pragma once

// Reading numbers out of a file that may lie. Every offset, length and count below is untrusted; none of
// these functions can overflow or read past the end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

namespace heapsift {

using Bytes = std::span<const std::byte>;

/// What exists of [offset, offset + size): all of it, its beginning, or nothing.
inline Bytes clipped(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
    if (offset >= bytes.size()) return {};
    return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

/// The value at `offset` bytes, at any alignment; nothing if it is not there in full.
template <class T>
std::optional<T> read_at(Bytes bytes, std::uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    const Bytes there = clipped(bytes, offset, sizeof(T));
    if (there.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, there.data(), sizeof(T));
    return value;
}

inline std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max()
                                                             : a + b;
}

inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b
               ? std::numeric_limits<std::uint64_t>::max()
               : a * b;
}

/// The page size of x86-64, which is also the unit in which the loader maps a file.
inline constexpr std::uint64_t page_bytes = 4096;

inline std::uint64_t page_start(std::uint64_t value) { return value - value % page_bytes; }

/// Rounds up to a page; stays below 2^64.
inline std::uint64_t page_end(std::uint64_t value) {
    return page_start(saturating_add(value, page_bytes - 1));
}

}  // namespace heapsift
