#pragma once

// From the rows of NT_FILE to the ELF images that were mapped.

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"
#include "parsers/elf/elf_image.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {

/// The images whose first page was saved, as rows of NT_FILE with invented names: for a core that has lost
/// its notes (gdb writes them last, so a cut takes them first).
std::vector<MappedFile> images_in_memory(const AddressSpace& memory);

struct ModuleList {
    std::vector<Module> modules;  // by address; files not looked for yet
    std::vector<std::optional<ElfImage>>
        images;                               // one for each module; nothing if its headers were not saved
    std::vector<MappedFile> rows;             // those of NT_FILE and the vDSO's, by start
    std::vector<std::int32_t> module_of_row;  // -1: data that was mapped from a file
};

/// The path without the " (deleted)" that the kernel appends to the name of an unlinked file.
std::string_view path_of_mapped_file(std::string_view path);

/// Groups `mapped_files` (sorted by start) into modules. `memory` holds what the core saved. A mapped file is
/// a module if its ELF header was saved, if it is the executable, or if it has a shared object's name. Cost:
/// one read of headers for each group of rows; linear in rows.
ModuleList find_modules(const AddressSpace& memory, const std::vector<MappedFile>& mapped_files,
                        const std::vector<std::pair<std::uint64_t, std::uint64_t>>& auxiliary);

}  // namespace heapsift
