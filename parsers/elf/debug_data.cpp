// Fedora and its kin strip the static symbols from their files, and put those of functions back as a section:
// an ELF file of its own, compressed with xz ("MiniDebugInfo"; gdb's manual, "Debugging information in a
// special section"). libarchive unpacks it.

#include "parsers/elf/debug_data.h"

#include "parsers/elf/archive.h"
#include "parsers/elf/libelf.h"

#include <archive.h>
#include <archive_entry.h>
#include <gelf.h>

namespace heapsift {
namespace {

constexpr std::size_t most_bytes = 256 << 20;

Bytes section_bytes(Elf* elf, Bytes file) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
        const char* name = elf_strptr(elf, names, header.sh_name);
        if (name && std::string_view(name) == ".gnu_debugdata")
            return clipped(file, header.sh_offset, header.sh_size);
    }
    return {};
}

}  // namespace

std::string unpacked_debug_data(Bytes file) {
    const ElfHandle elf = open_elf(file);
    const Bytes packed = elf ? section_bytes(elf.get(), file) : Bytes{};
    if (packed.empty()) return {};
    const ArchiveReader in(archive_read_new());
    archive_read_support_filter_xz(in.get());
    archive_read_support_format_raw(in.get());
    archive_entry* entry = nullptr;
    if (archive_read_open_memory(in.get(), packed.data(), packed.size()) != ARCHIVE_OK ||
        archive_read_next_header(in.get(), &entry) != ARCHIVE_OK ||
        archive_filter_code(in.get(), 0) != ARCHIVE_FILTER_XZ)
        return {};
    std::string unpacked;
    for (;;) {
        const void* block = nullptr;
        std::size_t got = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(in.get(), &block, &got, &offset);
        if (status == ARCHIVE_EOF) return unpacked;
        if (status != ARCHIVE_OK || got > most_bytes - unpacked.size()) return {};
        unpacked.append(static_cast<const char*>(block), got);
    }
}

}  // namespace heapsift
