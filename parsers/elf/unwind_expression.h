#pragma once

// The small programs in unwind tables (DWARF 5, 2.5): where a register of the caller was saved, or what it
// is.

#include "parsers/elf/address_space.h"

#include <elfutils/libdw.h>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace heapsift {

/// Registers by DWARF's numbers (System V ABI for x86-64, figure 3.36): 0 to 15, and 16, the return address.
struct UnwindRegisters {
    static constexpr std::size_t count = 17, stack_pointer = 7, return_address = 16;
    std::array<std::optional<std::uint64_t>, count> values{};
};

/// What a program leaves: a value, or the address of one.
struct UnwindPlace {
    std::uint64_t number = 0;
    bool is_value = false;
};

/// Runs `program`. `frame_address` is the CFA, if it is known. Nothing if the program needs a register or
/// memory that is unknown, has an operation that unwind tables do not use, or takes more than 1000 steps.
std::optional<UnwindPlace> run_unwind_program(std::span<const Dwarf_Op> program,
                                              const UnwindRegisters& registers, const AddressSpace& memory,
                                              std::optional<std::uint64_t> frame_address);

}  // namespace heapsift
