#pragma once

// An ELF file on this machine that a module may have been mapped from.

#include "parsers/elf/bytes.h"
#include "parsers/elf/file_mapping.h"

#include <elf.h>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct ElfFile {
    std::string path;
    FileMapping mapping;
    std::vector<Elf64_Phdr> program_headers;
    std::string build_id;          // lower-case hex; empty if it has none
    bool has_debug_info = false;   // a .debug_info section with bytes
    bool only_debug_info = false;  // made by objcopy --only-keep-debug: its code is not in it

    Bytes bytes() const { return mapping.bytes(); }
    /// Nothing unless `path` is a regular file and an ELF file of x86-64. `exists` says whether it is a
    /// regular file at all.
    static std::optional<ElfFile> open(const std::string& path, bool& exists);
};

/// Whether two program header tables load the same bytes to the same places.
bool same_load_segments(const std::vector<Elf64_Phdr>& a, const std::vector<Elf64_Phdr>& b);

}  // namespace heapsift
