#pragma once

// What is in the memory of C code, in a word or two.

#include "parsers/elf/core_file.h"

#include <cstdint>
#include <string>

namespace heapsift {

/// "text", "zeros", "addresses", if the beginning of a block is nothing else; else "".
std::string native_content(const AddressSpace& memory, Address block, std::uint64_t size);

/// "libfoo.so cache", "libfoo.so" where no symbol covers the word.
std::string variable_name(const CoreFile& core, Address word);
/// The same with the offset: "libfoo.so cache+0x10", "libfoo.so+0x40".
std::string variable_words(const CoreFile& core, Address word);

}  // namespace heapsift
