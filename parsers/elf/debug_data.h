#pragma once

// .gnu_debugdata: a small ELF file inside another.

#include "parsers/elf/bytes.h"

#include <string>

namespace heapsift {

/// The ELF file that `file` has in its section .gnu_debugdata, unpacked; empty if there is none, it is
/// damaged, or larger than 256 MiB.
std::string unpacked_debug_data(Bytes file);

}  // namespace heapsift
