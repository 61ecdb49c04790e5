#pragma once

// musl's malloc, of which only its presence is told. (How: musl.cpp.)

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"

#include <span>

namespace heapsift {

/// True if the process has musl as its C library, loaded or linked into the program. Cost: a look at the names of
/// modules; in a process without glibc, a sweep over the data of the program.
bool has_musl(const AddressSpace& memory, std::span<const Module> modules);

}  // namespace heapsift
