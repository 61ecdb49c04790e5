#pragma once

// Numbers below 4 GiB that may look like addresses in a low heap. (Which are told, and how: low_numbers.cpp.)

#include "parsers/elf/address_space.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace heapsift {

/// Where words stand.
enum class WordsOf : std::uint8_t {
    block,   // from a block's start on
    module,  // variables: what stands there was never anything else
    other
};

/// Whether the word at `index` of `bytes`, in words of 8 bytes, is a number and no address, as its value and its
/// neighbours tell. Always false from 4 GiB on. Cost: nothing then, else up to 0.1 µs, and 1 ns for each 8 bytes of a text.
bool is_low_number(const AddressSpace& memory, WordsOf of, std::span<const std::byte> bytes,
                   std::size_t index, std::uint64_t word);

}  // namespace heapsift
