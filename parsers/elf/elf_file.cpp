// Facts about an ELF file, from its headers alone.

#include "parsers/elf/elf_file.h"

#include "parsers/elf/build_id.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t most_headers = 4096;  // of either kind; real files have dozens

template <class Header>
std::vector<Header> read_table(Bytes file, std::uint64_t offset, std::uint64_t count) {
    std::vector<Header> table;
    for (std::uint64_t i = 0; i < std::min(count, most_headers); ++i) {
        const auto header = read_at<Header>(file, saturating_add(offset, i * sizeof(Header)));
        if (!header) break;
        table.push_back(*header);
    }
    return table;
}

std::string_view section_name(Bytes names, std::uint64_t offset) {
    const Bytes rest = clipped(names, offset, 64);
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    return text.substr(0, text.find('\0'));
}

void read_sections(ElfFile& file, const Elf64_Ehdr& header) {
    if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
    const auto sections = read_table<Elf64_Shdr>(file.bytes(), header.e_shoff, header.e_shnum);
    Bytes names;
    if (header.e_shstrndx < sections.size())
        names =
            clipped(file.bytes(), sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
    for (const Elf64_Shdr& s : sections) {
        if (s.sh_type == SHT_NOBITS && (s.sh_flags & SHF_EXECINSTR)) file.only_debug_info = true;
        const std::string_view name = section_name(names, s.sh_name);
        if (s.sh_type != SHT_NOBITS && s.sh_size > 0 && (name == ".debug_info" || name == ".zdebug_info"))
            file.has_debug_info = true;
    }
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path, bool& exists) {
    FileMapping::Status status;
    ElfFile file;
    file.path = path;
    file.mapping = FileMapping::open(path, status);
    exists = status.failure == FileMapping::Failure::none;
    const auto header = read_at<Elf64_Ehdr>(file.bytes(), 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != EM_X86_64)
        return std::nullopt;
    if (header->e_phentsize == sizeof(Elf64_Phdr))
        file.program_headers = read_table<Elf64_Phdr>(file.bytes(), header->e_phoff, header->e_phnum);
    read_sections(file, *header);
    file.build_id = build_id_of_file(file.bytes());
    return file;
}

bool same_load_segments(const std::vector<Elf64_Phdr>& a, const std::vector<Elf64_Phdr>& b) {
    const auto loads = [](const std::vector<Elf64_Phdr>& headers) {
        std::vector<Elf64_Phdr> out;
        std::copy_if(headers.begin(), headers.end(), std::back_inserter(out),
                     [](const Elf64_Phdr& ph) { return ph.p_type == PT_LOAD; });
        return out;
    };
    const auto x = loads(a), y = loads(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Elf64_Phdr& p, const Elf64_Phdr& q) {
        return p.p_vaddr == q.p_vaddr && p.p_offset == q.p_offset && p.p_filesz == q.p_filesz &&
               p.p_memsz == q.p_memsz && p.p_flags == q.p_flags;
    });
}

}  // namespace heapsift
