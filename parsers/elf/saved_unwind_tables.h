#pragma once

// The unwind table of an image in a core's memory, checked.

#include "parsers/elf/address_space.h"
#include "parsers/elf/bytes.h"
#include "parsers/elf/elf_image.h"

#include <cstdint>
#include <string>

namespace heapsift {

/// An ELF file with one section, .eh_frame: the entries that the image has in `memory`, up to the first that
/// is unsound. Empty if there are none. Cost: one pass over them; at most 64 MiB are copied.
std::string file_of_saved_unwind_table(const AddressSpace& memory, const ElfImage& image);

/// How many bytes of `table` are whole, sound entries: of at most 64 KiB, of the forms that x86-64 uses, with
/// registers that it has. Part of `file_of_saved_unwind_table`.
std::size_t sound_unwind_entries(Bytes table);

}  // namespace heapsift
