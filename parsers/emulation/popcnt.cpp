#include "parsers/emulation/popcnt.h"

// POPCNT r, r/m is F3 [REX] 0F B8 /r, with 66 in front for 16 bits (Intel's manual, volume 2, POPCNT and
// chapter 2.1, "ModR/M and SIB bytes"). Compilers emit it for x86-64-v2, which distributions begin to build
// for.

#include <cstring>

namespace heapsift {

std::optional<Popcnt> decode_popcnt(std::span<const std::uint8_t> bytes) {
    std::size_t at = 0;
    const auto next = [&]() -> std::optional<std::uint8_t> {
        return at < bytes.size() ? std::optional(bytes[at++]) : std::nullopt;
    };
    bool repeat = false, narrow = false;
    auto byte = next();
    for (; byte && (*byte == 0xf3 || *byte == 0x66); byte = next()) {
        repeat = repeat || *byte == 0xf3;
        narrow = narrow || *byte == 0x66;
    }
    std::uint8_t rex = 0;
    if (byte && (*byte & 0xf0) == 0x40) {
        rex = *byte;
        byte = next();
    }
    if (!repeat || !byte || *byte != 0x0f) return std::nullopt;
    if (byte = next(); !byte || *byte != 0xb8) return std::nullopt;
    const auto modrm = next();
    if (!modrm) return std::nullopt;
    const auto bit = [&](int number) { return static_cast<std::uint8_t>((rex >> number & 1) * 8); };
    Popcnt result;
    result.width = rex & 8 ? 8 : narrow ? 2 : 4;
    result.destination = static_cast<std::uint8_t>((*modrm >> 3 & 7) | bit(2));
    result.source = static_cast<std::uint8_t>((*modrm & 7) | bit(0));
    const int mode = *modrm >> 6;
    std::size_t displaced = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (mode != 3) {
        result.in_memory = result.has_base = true;
        if ((*modrm & 7) == 4) {
            const auto sib = next();
            if (!sib) return std::nullopt;
            result.source = static_cast<std::uint8_t>((*sib & 7) | bit(0));
            result.index = static_cast<std::uint8_t>((*sib >> 3 & 7) | bit(1));
            result.has_index = result.index != 4;
            result.scale = static_cast<std::uint8_t>(1 << (*sib >> 6));
            if ((*sib & 7) == 5 && mode == 0) {
                result.has_base = false;
                displaced = 4;
            }
        } else if ((*modrm & 7) == 5 && mode == 0) {
            result.has_base = false;
            result.from_next = true;
            displaced = 4;
        }
    }
    if (bytes.size() - at < displaced) return std::nullopt;
    if (displaced == 1) result.displacement = static_cast<std::int8_t>(bytes[at]);
    if (displaced == 4) std::memcpy(&result.displacement, bytes.data() + at, 4);
    result.length = static_cast<std::uint8_t>(at + displaced);
    return result;
}

}  // namespace heapsift
