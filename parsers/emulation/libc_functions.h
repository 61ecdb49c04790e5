#pragma once

// Functions of the C library that have one version for each kind of processor. (Why they are not emulated:
// libc_functions.cpp.)

#include "parsers/emulation/guest_memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace heapsift {

struct LibcFunction {
    std::string_view name;
    /// Does what the function does, to the memory of the guest, with its first three arguments, and returns
    /// what it returns. Nothing if memory is not there, or may not be written, or a text has no end.
    std::optional<std::uint64_t> (*run)(GuestMemory&, const std::array<std::uint64_t, 3>&);
};

std::span<const LibcFunction> libc_functions();

}  // namespace heapsift
