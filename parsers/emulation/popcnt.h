#pragma once

// The one instruction that ordinary builds for newer processors use and Unicorn 2.0 lacks.

#include <cstdint>
#include <optional>
#include <span>

namespace heapsift {

/// POPCNT, as its bytes say.
struct Popcnt {
    std::uint8_t length = 0;       // of the instruction, bytes
    std::uint8_t width = 4;        // of its operands, bytes: 2, 4 or 8
    std::uint8_t destination = 0;  // number of a register, 0 (rax) to 15 (r15)
    // The source: a register, or memory at the sum of what is there.
    bool in_memory = false;
    std::uint8_t source = 0;  // of a register; in memory, the base
    bool has_base = false, has_index = false, from_next = false;
    std::uint8_t index = 0, scale = 1;
    std::int32_t displacement = 0;  // with `from_next`: from the next instruction on
};

/// Nothing if the bytes begin with another instruction, or with one whose operand is relative to a segment.
std::optional<Popcnt> decode_popcnt(std::span<const std::uint8_t> bytes);

}  // namespace heapsift
