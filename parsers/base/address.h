#pragma once

// Addresses of the dumped process have their own type, so that the compiler notices when a number read from a
// core is used as a pointer of this process.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace heapsift {

/// An address in the dumped process. Any 64-bit value is allowed; only `AddressSpace` knows what is there.
struct Address {
    std::uint64_t value = 0;

    constexpr Address() = default;
    constexpr explicit Address(std::uint64_t v) : value(v) {}

    constexpr bool is_null() const { return value == 0; }
    constexpr auto operator<=>(const Address&) const = default;

    /// Wraps around at 2^64, as the hardware does: a false offset gives a wrong address, never undefined
    /// behaviour.
    constexpr Address operator+(std::uint64_t bytes) const { return Address(value + bytes); }
    constexpr Address operator-(std::uint64_t bytes) const { return Address(value - bytes); }
    constexpr std::uint64_t operator-(Address other) const { return value - other.value; }
    constexpr bool aligned(std::uint64_t alignment) const { return value % alignment == 0; }
    constexpr Address rounded_down(std::uint64_t alignment) const {
        return Address(value - value % alignment);
    }
    constexpr Address rounded_up(std::uint64_t alignment) const {
        return (*this + (alignment - 1)).rounded_down(alignment);
    }
};

/// [start, end) in the dumped process; end >= start.
struct AddressRange {
    Address start;
    Address end;

    constexpr std::uint64_t size() const { return end - start; }
    constexpr bool contains(Address a) const { return a >= start && a < end; }
};

}  // namespace heapsift
