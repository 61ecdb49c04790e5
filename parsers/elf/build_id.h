#pragma once

// Which build an ELF file is.

#include "parsers/elf/bytes.h"

#include <string>

namespace heapsift {

/// The build-id of the 64-bit ELF file that has these bytes, in lower-case hex; empty if it is no such file or has
/// none. Reads its headers and notes.
std::string build_id_of_file(Bytes file);

}  // namespace heapsift
