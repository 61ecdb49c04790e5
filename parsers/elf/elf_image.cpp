// A module's header page is nearly always in a core: the kernel saves the first page of every file mapping
// that begins with the ELF magic (coredump_filter bit 4), gdb the whole first mapping. From there the program
// headers lead to the rest.
//
// Program headers and the build-id note mostly lie in that page, but tools that rewrite executables (BOLT,
// patchelf) move them to the end of the file. So every file offset is translated through NT_FILE, and every
// virtual address through the load bias.
//
// The load bias is where the lowest loadable segment was mapped, minus where its header says it should be.

#include "parsers/elf/elf_image.h"

#include "parsers/elf/bytes.h"
#include "parsers/elf/elf_notes.h"

#include <algorithm>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint16_t most_program_headers = 512;  // real images have about a dozen

std::optional<Address> address_of_file_offset(std::span<const MappedFile> rows, std::uint64_t offset) {
    for (const MappedFile& row : rows)
        if (offset >= row.file_offset && offset - row.file_offset < row.range.size())
            return row.range.start + (offset - row.file_offset);
    return std::nullopt;
}

bool is_image_header(const Elf64_Ehdr& header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 &&
           (header.e_type == ET_DYN || header.e_type == ET_EXEC) &&
           header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum > 0 &&
           header.e_phnum <= most_program_headers;
}

/// The saved bytes from `address` on, at most `size`.
std::vector<std::byte> saved_bytes(const AddressSpace& memory, Address address, std::uint64_t size) {
    std::vector<std::byte> bytes;
    while (bytes.size() < size) {
        const Segment* s = memory.find(address);
        if (!s || !s->data) break;
        const std::uint64_t offset = address - s->start;
        const std::uint64_t here = std::min(size - bytes.size(), s->size - offset);
        bytes.insert(bytes.end(), s->data + offset, s->data + offset + here);
        address = address + here;
    }
    return bytes;
}

std::optional<std::uint64_t> load_bias_of(const std::vector<Elf64_Phdr>& headers,
                                          const MappedFile& first_row) {
    const Elf64_Phdr* lowest = nullptr;
    const Elf64_Phdr* at_first_row = nullptr;  // the lowest one that begins with the first row's file page
    for (const Elf64_Phdr& ph : headers) {
        if (ph.p_type != PT_LOAD) continue;
        if (!lowest || ph.p_vaddr < lowest->p_vaddr) lowest = &ph;
        if (page_start(ph.p_offset) == first_row.file_offset &&
            (!at_first_row || ph.p_vaddr < at_first_row->p_vaddr))
            at_first_row = &ph;
    }
    if (!lowest) return std::nullopt;
    return first_row.range.start.value - page_start((at_first_row ? at_first_row : lowest)->p_vaddr);
}

std::string build_id_of(const AddressSpace& memory, const ElfImage& image) {
    for (const Elf64_Phdr& ph : image.program_headers) {
        if (ph.p_type != PT_NOTE) continue;
        const auto notes =
            saved_bytes(memory, image.runtime(ph.p_vaddr), std::min(ph.p_filesz, most_note_bytes));
        if (std::string id = build_id_in_notes(notes, ph.p_align); !id.empty()) return id;
    }
    return {};
}

}  // namespace

bool ElfImage::maps(std::uint64_t file_offset, Address address) const {
    const std::uint64_t virtual_address = address.value - load_bias;
    return std::any_of(program_headers.begin(), program_headers.end(), [&](const Elf64_Phdr& ph) {
        const std::uint64_t from = page_start(ph.p_vaddr);
        return ph.p_type == PT_LOAD && virtual_address >= from &&
               virtual_address - from < page_end(saturating_add(ph.p_filesz, ph.p_vaddr - from)) &&
               file_offset - page_start(ph.p_offset) == virtual_address - from;
    });
}

std::optional<ElfImage> read_elf_image(const AddressSpace& memory, std::span<const MappedFile> rows) {
    const auto start = address_of_file_offset(rows, 0);
    if (!start) return std::nullopt;
    const auto header = memory.read<Elf64_Ehdr>(*start);
    if (!header || !is_image_header(*header)) return std::nullopt;
    const auto table = address_of_file_offset(rows, header->e_phoff);
    if (!table) return std::nullopt;
    ElfImage image;
    image.program_headers.resize(header->e_phnum);
    if (!memory.read_bytes(*table, image.program_headers.data(), header->e_phnum * sizeof(Elf64_Phdr)))
        return std::nullopt;
    const auto bias = load_bias_of(image.program_headers, rows.front());
    if (!bias) return std::nullopt;
    image.load_bias = *bias;
    image.build_id = build_id_of(memory, image);
    return image;
}

}  // namespace heapsift
