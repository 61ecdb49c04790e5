#pragma once

// Putting the dumped memory together from the core's segments and the files of its modules.

#include "parsers/elf/address_space.h"
#include "parsers/elf/core_headers.h"
#include "parsers/elf/elf_file.h"
#include "parsers/elf/modules.h"

#include <memory>
#include <span>
#include <vector>

namespace heapsift {

/// What the core alone knows: saved bytes, and as not_saved all else that a PT_LOAD or a row of NT_FILE
/// names.
AddressSpace memory_of_core(const CoreHeaders& headers, const std::vector<MappedFile>& mapped_files);

/// The same with the module of each segment, and with the bytes of `files` (one for each module, null if
/// there is none that may be used) where the core has none. Only what both the core and the file say is never
/// written to is taken from a file: a relocated page is read-only in the process too, and differs from the
/// file. The mappings of `files` must outlive the result.
AddressSpace memory_with_files(const AddressSpace& of_core, const ModuleList& list,
                               std::span<const std::shared_ptr<const ElfFile>> files);

/// Rows by address, without overlaps; `module` of each segment is the index of its row.
AddressSpace space_of_rows(const std::vector<MappedFile>& rows);

}  // namespace heapsift
