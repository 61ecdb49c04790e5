// A core is an ELF header, a program header for the notes and one for each mapping, the notes, and the bytes, each
// mapping's at a page of the file. Source: gABI, "Program Loading"; Linux's fs/binfmt_elf.c (elf_core_dump,
// fill_extnum_info).

#include "parsers/capture/core_headers_out.h"

#include <elf.h>

#include <cstring>

namespace heapsift {
namespace {

template <class T>
void append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool is_extended(std::size_t headers) { return headers >= PN_XNUM; }

Elf64_Ehdr file_header(std::size_t headers, std::uint64_t table_offset, std::uint64_t section_offset) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = table_offset;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(is_extended(headers) ? PN_XNUM : headers);
    if (is_extended(headers)) {
        header.e_shoff = section_offset;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 1;
    }
    return header;
}

Elf64_Phdr program_header(const CoreSegment& segment) {
    Elf64_Phdr header{};
    header.p_type = PT_LOAD;
    header.p_flags = static_cast<Elf64_Word>((segment.readable ? PF_R : 0) | (segment.writable ? PF_W : 0) |
                                             (segment.executable ? PF_X : 0));
    header.p_offset = segment.file_offset;
    header.p_vaddr = segment.memory.start.value;
    header.p_filesz = segment.saved_bytes;
    header.p_memsz = segment.memory.size();
    header.p_align = captured_page;
    return header;
}

}  // namespace

std::vector<CoreSegment> segments_of(const MemoryPlan& plan) {
    std::vector<CoreSegment> segments;
    segments.reserve(plan.mappings.size());
    for (const PlannedMapping& planned : plan.mappings)
        segments.push_back({planned.mapping.range, planned.saved_bytes, 0, planned.mapping.readable,
                            planned.mapping.writable, planned.mapping.executable});
    return segments;
}

std::uint64_t core_table_bytes(std::size_t segments, std::uint64_t note_bytes) {
    const std::uint64_t headers = segments + 1;
    return headers * sizeof(Elf64_Phdr) + note_bytes + (is_extended(headers) ? sizeof(Elf64_Shdr) + 8 : 0);
}

std::uint64_t place_in_order(std::vector<CoreSegment>& segments, std::uint64_t at) {
    at = Address(at).rounded_up(captured_page).value;
    for (CoreSegment& segment : segments) {
        segment.file_offset = at;
        at += Address(segment.saved_bytes).rounded_up(captured_page).value;
    }
    return at;
}

CoreHeaderBytes core_header_bytes(std::span<const CoreSegment> segments, std::string_view notes,
                                  std::uint64_t table_offset) {
    const std::size_t headers = segments.size() + 1;
    const std::uint64_t notes_offset = table_offset + headers * sizeof(Elf64_Phdr);
    const std::uint64_t section_offset = (notes_offset + notes.size() + 7) / 8 * 8;
    CoreHeaderBytes bytes;
    append(bytes.header, file_header(headers, table_offset, section_offset));
    Elf64_Phdr note_header{};
    note_header.p_type = PT_NOTE;
    note_header.p_offset = notes_offset;
    note_header.p_filesz = notes.size();
    note_header.p_align = 4;
    append(bytes.table, note_header);
    for (const CoreSegment& segment : segments) append(bytes.table, program_header(segment));
    bytes.table += notes;
    if (is_extended(headers)) {
        bytes.table.resize(section_offset - table_offset, '\0');
        Elf64_Shdr count{};
        count.sh_size = 1;  // e_shnum
        count.sh_info = static_cast<Elf64_Word>(headers);
        append(bytes.table, count);
    }
    return bytes;
}

}  // namespace heapsift
