#pragma once

// An ELF image in the memory of the core: what the loader mapped, found through the image's own headers.

#include "parsers/base/address.h"
#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"

#include <elf.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct ElfImage {
    std::vector<Elf64_Phdr> program_headers;
    std::uint64_t load_bias = 0;  // runtime address minus the file's virtual address; wraps
    std::string build_id;         // lower-case hex; empty if its note was not saved

    /// Where `virtual_address` of the file lies in the dumped process.
    Address runtime(std::uint64_t virtual_address) const { return Address(virtual_address + load_bias); }
    /// Whether, by the program headers, the loader maps `file_offset` (a multiple of the page size) at
    /// `address`.
    bool maps(std::uint64_t file_offset, Address address) const;
};

/// The image whose file the `rows` of NT_FILE map; the rows are in order of address, and not empty. Nothing
/// if no ELF header of x86-64 can be read where the file's first byte was mapped, or its program headers
/// cannot be read.
std::optional<ElfImage> read_elf_image(const AddressSpace& memory, std::span<const MappedFile> rows);

}  // namespace heapsift
