#pragma once

// An ELF image as it stands in the memory of the core: what the loader mapped, found through its own headers.

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
    std::string build_id;         // lower-case hex; empty if no note with one was saved

    /// Where `virtual_address` of the file lies in the dumped process.
    Address runtime(std::uint64_t virtual_address) const { return Address(virtual_address + load_bias); }
    /// Whether the loader maps `file_offset` (a multiple of the page size) at `address` by the program
    /// headers.
    bool maps(std::uint64_t file_offset, Address address) const;
};

/// The image whose file the `rows` of NT_FILE map, in order of address; they are not empty. Nothing if no ELF
/// header of x86-64 can be read where the file's first byte was mapped, or its program headers cannot.
std::optional<ElfImage> read_elf_image(const AddressSpace& memory, std::span<const MappedFile> rows);

}  // namespace heapsift
