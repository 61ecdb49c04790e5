#pragma once

// Puts the dumped memory together from the core's segments and the files of its modules.

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_headers.h"
#include "parsers/elf/elf_file.h"
#include "parsers/elf/modules.h"

#include <memory>
#include <span>
#include <vector>

namespace heapsift {

/// What the core alone knows: the saved bytes and, as not_saved, everything else that a PT_LOAD or a row of
/// NT_FILE names.
AddressSpace memory_of_core(const CoreHeaders& headers, const std::vector<MappedFile>& mapped_files);

/// The same with the module of each segment, and with bytes of `files` where the core has none. `files` has
/// one entry for each module, null if no file may be used, and their mappings must outlive the result. Only
/// bytes that both the core and the file call unwritable are taken from a file: a relocated page is read-only
/// in the process too, but differs from the file.
AddressSpace memory_with_files(const AddressSpace& of_core, const ModuleList& list,
                               std::span<const std::shared_ptr<const ElfFile>> files);

/// Rows by address, without overlaps. `module` of each segment is the index of its row.
AddressSpace space_of_rows(const std::vector<MappedFile>& rows);

}  // namespace heapsift
