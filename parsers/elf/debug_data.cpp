// Fedora and its kin strip the static symbols from their files, and put those of functions back as a section:
// an ELF file of its own, compressed with xz ("MiniDebugInfo"; gdb's manual, "Debugging information in a
// special section").

#include "parsers/elf/debug_data.h"

#include "parsers/elf/libelf.h"
#include "parsers/elf/unpacking.h"

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
    const auto in = unpack_xz(packed, 1 << 18);
    std::string unpacked;
    for (Bytes block; in;) {
        const ByteStream::Status status = in->next(block);
        if (status == ByteStream::Status::end) return unpacked;
        if (status == ByteStream::Status::damaged || block.size() > most_bytes - unpacked.size()) return {};
        unpacked.append(reinterpret_cast<const char*>(block.data()), block.size());
    }
    return {};
}

}  // namespace heapsift
