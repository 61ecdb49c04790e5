#pragma once

// Writes a tiny shared object: headers, dynamic symbols and a build-id in the first page, code in the second,
// relocated data in the third, writable data in the fourth. With section headers, or as a separate debug
// file.

#include "tests/elf/core_writer.h"

#include <elf.h>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift::test {

/// A string literal with NULs in it, including the one at its end.
template <std::size_t size>
std::string with_nuls(const char (&text)[size]) {
    return std::string(text, size);
}

class ImageWriter {
public:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t code_at = page,
                                   data_at = 2 * page;  // file offsets and virtual addresses alike
    static constexpr std::uint64_t file_bytes = 4 * page, memory_bytes = 4 * page;

    std::string build_id = std::string("\xab\xcd\xef\x01\x23\x45\x67\x89", 8);
    std::string code = "constant text of the module";
    std::uint64_t virtual_base = 0;  // as in an executable that is not position-independent
    bool gnu_hash = true;            // else DT_HASH
    bool debug_info = false;         // a .debug_info section
    bool debug_only = false;         // .text is SHT_NOBITS
    bool notes_at_end = false;       // the build-id note is in the last page, as after BOLT

    std::string bytes() const {
        std::string image(file_bytes, '\0');
        std::string program_headers;
        const std::uint64_t v = virtual_base;
        const std::string note =
            build_id.empty() ? std::string() : CoreWriter::note_bytes(NT_GNU_BUILD_ID, build_id, "GNU");
        const std::uint64_t note_at = notes_at_end ? 3 * page + 0x800 : 0x200;
        std::uint16_t count = 0;
        const auto header = [&](std::uint32_t type, std::uint32_t flags, std::uint64_t at,
                                std::uint64_t size) {
            Elf64_Phdr ph = CoreWriter::program_header(type, flags, at, v + at, size, size);
            if (type == PT_NOTE) ph.p_align = 4;
            program_headers += bytes_of(ph);
            ++count;
        };
        header(PT_LOAD, PF_R, 0, page);
        header(PT_LOAD, PF_R | PF_X, code_at, page);
        header(PT_LOAD, PF_R | PF_W, data_at, 2 * page);
        header(PT_DYNAMIC, PF_R | PF_W, data_at, 0x100);
        if (!note.empty()) header(PT_NOTE, PF_R, note_at, note.size());

        Elf64_Ehdr elf = CoreWriter::elf_header();
        elf.e_type = v == 0 ? ET_DYN : ET_EXEC;
        elf.e_phnum = count;
        image.replace(sizeof elf, program_headers.size(), program_headers);
        image.replace(note_at, note.size(), note);
        image.replace(code_at, code.size(), code);
        write_dynamic(image);
        append_sections(image, elf, note_at, note.size());
        put_at(image, 0, elf);
        return image;
    }

private:
    static constexpr std::uint64_t strings_at = 0x300, symbols_at = 0x400, hash_at = 0x500;
    static constexpr std::uint64_t symbol_count = 4;  // the null symbol and three others
    static inline const std::string strings = with_nuls("\0the_data\0the_code\0local_data");

    void write_dynamic(std::string& image) const {
        const std::uint64_t v = virtual_base;
        image.replace(strings_at, strings.size(), strings);
        const auto symbol = [&](std::size_t index, std::uint32_t name, unsigned char info,
                                std::uint16_t section, std::uint64_t value) {
            put_at(image, symbols_at + index * sizeof(Elf64_Sym),
                   Elf64_Sym{name, info, 0, section, v + value, 16});
        };
        symbol(1, 19, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 2, data_at + 0x300);
        symbol(2, 1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2, data_at + 0x200);
        symbol(3, 10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, code_at);
        std::vector<std::uint32_t> hash;
        if (gnu_hash)
            hash = {1, 2, 1, 0, 0xffffffff, 0xffffffff, /*bucket*/ 2, /*chain*/ 2, 3};
        else
            hash = {1, symbol_count, 0, 0, 0, 0, 0};
        for (std::size_t i = 0; i < hash.size(); ++i) put_at(image, hash_at + i * 4, hash[i]);
        const Elf64_Dyn entries[] = {{DT_SYMTAB, {v + symbols_at}},
                                     {DT_STRTAB, {v + strings_at}},
                                     {DT_STRSZ, {strings.size()}},
                                     {gnu_hash ? DT_GNU_HASH : DT_HASH, {v + hash_at}},
                                     {DT_NULL, {0}}};
        put_at(image, data_at, entries);
    }

    void append_sections(std::string& image, Elf64_Ehdr& elf, std::uint64_t note_at,
                         std::uint64_t note_bytes) const {
        const std::string names =
            with_nuls("\0.text\0.data\0.dynsym\0.dynstr\0.note\0.debug_info\0.shstrtab");
        const std::uint64_t names_at = image.size();
        image += names;
        image.resize((image.size() + 7) / 8 * 8);
        std::vector<Elf64_Shdr> sections(1);
        const auto add = [&](const char* name, std::uint32_t type, std::uint64_t flags, std::uint64_t at,
                             std::uint64_t size) {
            Elf64_Shdr s{};
            s.sh_name = static_cast<std::uint32_t>(names.find(name));
            s.sh_type = type;
            s.sh_flags = flags;
            s.sh_addr = flags & SHF_ALLOC ? virtual_base + at : 0;
            s.sh_offset = at;
            s.sh_size = size;
            s.sh_addralign = 4;
            sections.push_back(s);
            return &sections.back();
        };
        add(".text", debug_only ? SHT_NOBITS : SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code_at, page);
        add(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data_at, page);
        Elf64_Shdr* symbols =
            add(".dynsym", SHT_DYNSYM, SHF_ALLOC, symbols_at, symbol_count * sizeof(Elf64_Sym));
        symbols->sh_entsize = sizeof(Elf64_Sym);
        symbols->sh_addralign = 8;
        symbols->sh_link = 4;
        add(".dynstr", SHT_STRTAB, SHF_ALLOC, strings_at, strings.size());
        if (note_bytes) add(".note", SHT_NOTE, SHF_ALLOC, note_at, note_bytes);
        if (debug_info) add(".debug_info", SHT_PROGBITS, 0, code_at, 16);
        add(".shstrtab", SHT_STRTAB, 0, names_at, names.size());
        elf.e_shoff = image.size();
        elf.e_shentsize = sizeof(Elf64_Shdr);
        elf.e_shnum = static_cast<std::uint16_t>(sections.size());
        elf.e_shstrndx = static_cast<std::uint16_t>(sections.size() - 1);
        for (const Elf64_Shdr& s : sections) image += bytes_of(s);
    }
};

}  // namespace heapsift::test
