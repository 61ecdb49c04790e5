// The build-id is looked for in the sections first: the program headers of a separate debug file still say where the
// note was, but it is no longer there.

#include "parsers/elf/build_id.h"

#include "parsers/elf/elf_notes.h"

#include <elf.h>
#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_headers_of_notes = 4096;  // real files have dozens

std::string build_id_at(Bytes file, std::uint64_t offset, std::uint64_t size, std::uint64_t alignment) {
    return build_id_in_notes(clipped(file, offset, std::min(size, most_note_bytes)), alignment);
}

}  // namespace

std::string build_id_of_file(Bytes file) {
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    std::string found;
    if (!header) return found;
    const std::uint64_t sections =
        header->e_shoff != 0 && header->e_shentsize == sizeof(Elf64_Shdr) ? header->e_shnum : 0;
    for (std::uint64_t i = 0; i < std::min(sections, most_headers_of_notes) && found.empty(); ++i) {
        const auto s = read_at<Elf64_Shdr>(file, saturating_add(header->e_shoff, i * sizeof(Elf64_Shdr)));
        if (!s) break;
        if (s->sh_type == SHT_NOTE) found = build_id_at(file, s->sh_offset, s->sh_size, s->sh_addralign);
    }
    const std::uint64_t segments = header->e_phentsize == sizeof(Elf64_Phdr) ? header->e_phnum : 0;
    for (std::uint64_t i = 0; i < std::min(segments, most_headers_of_notes) && found.empty(); ++i) {
        const auto p = read_at<Elf64_Phdr>(file, saturating_add(header->e_phoff, i * sizeof(Elf64_Phdr)));
        if (!p) break;
        if (p->p_type == PT_NOTE) found = build_id_at(file, p->p_offset, p->p_filesz, p->p_align);
    }
    return found;
}

}  // namespace heapsift
