#pragma once

// Words that look like addresses of blocks and are none: numbers below 4 GiB in a low heap, ends of texts. (Which are
// told, and how: low_numbers.cpp.)

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

/// Whether the word at `index` of `bytes` is the end of a text, its zero, and what is left of an address. Cost: nothing
/// where it does not begin so, else 1 ns for each 8 bytes of the text.
bool is_text_over_address(WordsOf of, std::span<const std::byte> bytes, std::size_t index,
                          std::uint64_t word);

/// Whether it is one of these.
inline bool is_no_address(const AddressSpace& memory, WordsOf of, std::span<const std::byte> bytes,
                          std::size_t index, std::uint64_t word) {
    return is_low_number(memory, of, bytes, index, word) || is_text_over_address(of, bytes, index, word);
}

}  // namespace heapsift
