#pragma once

// Writes small ELF cores as the kernel and gcore do, and false ones. What a test does not set is as in a good
// core.

#include <elf.h>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace heapsift::test {

template <class T>
std::string bytes_of(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
void put_at(std::string& bytes, std::size_t offset, const T& value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

struct FileRow {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t page_offset;  // in units of 4096
    std::string path;
};

class CoreWriter {
public:
    struct Load {
        std::uint64_t address = 0;
        std::string bytes;
        std::uint64_t memory_bytes = 0;
        std::uint32_t flags = PF_R | PF_W;
    };

    CoreWriter& load(std::uint64_t address, std::string bytes, std::uint64_t memory_bytes = 0,
                     std::uint32_t flags = PF_R | PF_W) {
        if (memory_bytes == 0) memory_bytes = bytes.size();
        loads.push_back({address, std::move(bytes), memory_bytes, flags});
        return *this;
    }
    CoreWriter& note(std::uint32_t type, const std::string& description, const std::string& owner = "CORE") {
        notes += note_bytes(type, description, owner);
        return *this;
    }
    CoreWriter& thread(std::int32_t tid, std::int16_t signal, std::uint64_t instruction_pointer = 0,
                       std::uint64_t stack_pointer = 0, std::uint64_t fs_base = 0) {
        std::string status(336, '\0');
        put_at(status, 12, signal);
        put_at(status, 32, tid);
        put_at(status, 112 + 16 * 8, instruction_pointer);
        put_at(status, 112 + 19 * 8, stack_pointer);
        put_at(status, 112 + 21 * 8, fs_base);
        return note(NT_PRSTATUS, status);
    }
    CoreWriter& process(std::int32_t pid, const std::string& name, const std::string& arguments) {
        std::string info(136, '\0');
        put_at(info, 24, pid);
        info.replace(40, name.size(), name);
        info.replace(56, arguments.size(), arguments);
        return note(NT_PRPSINFO, info);
    }
    CoreWriter& signal(std::int32_t number, std::int32_t code, std::uint64_t address = 0) {
        std::string info(128, '\0');
        put_at(info, 0, number);
        put_at(info, 8, code);
        put_at(info, 16, address);
        return note(NT_SIGINFO, info);
    }
    CoreWriter& auxiliary(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& values) {
        std::string vector;
        for (const auto& [type, value] : values) vector += bytes_of(type) + bytes_of(value);
        return note(NT_AUXV, vector + std::string(16, '\0'));
    }
    CoreWriter& files(const std::vector<FileRow>& rows) { return note(NT_FILE, file_note(rows)); }

    static std::string file_note(const std::vector<FileRow>& rows) {
        std::string head = bytes_of(std::uint64_t{rows.size()}) + bytes_of(std::uint64_t{4096});
        std::string names;
        for (const FileRow& row : rows) {
            head += bytes_of(row.start) + bytes_of(row.end) + bytes_of(row.page_offset);
            names += row.path + '\0';
        }
        return head + names;
    }
    static std::string note_bytes(std::uint32_t type, const std::string& description,
                                  const std::string& owner = "CORE") {
        const auto padded = [](std::string text) {
            text.resize((text.size() + 3) / 4 * 4);
            return text;
        };
        const Elf64_Nhdr header{static_cast<std::uint32_t>(owner.size() + 1),
                                static_cast<std::uint32_t>(description.size()), type};
        return bytes_of(header) + padded(owner + '\0') + padded(description);
    }

    /// The whole file: header, program headers, notes, segments; gcore's section headers if asked for, and
    /// PN_XNUM if needed.
    std::string bytes() const {
        const std::uint64_t count = loads.size() + 1;
        const bool extended = count >= PN_XNUM;
        Elf64_Ehdr header = elf_header();
        header.e_phnum = static_cast<std::uint16_t>(extended ? PN_XNUM : count);
        std::uint64_t offset = sizeof(Elf64_Ehdr) + count * sizeof(Elf64_Phdr);
        std::string table = bytes_of(program_header(PT_NOTE, PF_R, offset, 0, notes.size(), 0));
        offset += notes.size();
        for (const Load& l : loads) {
            table +=
                bytes_of(program_header(PT_LOAD, l.flags, offset, l.address, l.bytes.size(), l.memory_bytes));
            offset += l.bytes.size();
        }
        const unsigned sections = gcore ? 3 : extended ? 1 : 0;
        if (sections > 0) {
            header.e_shoff = offset;
            header.e_shnum = static_cast<std::uint16_t>(sections);
            header.e_shentsize = sizeof(Elf64_Shdr);
        }
        std::string out;
        out.reserve(offset + 256);
        out += bytes_of(header) + table + notes;
        for (const Load& l : loads) out += l.bytes;
        for (unsigned i = 0; i < sections; ++i) {
            Elf64_Shdr section{};
            if (i == 0) section.sh_info = static_cast<std::uint32_t>(extended ? count : 0);
            out += bytes_of(section);
        }
        return out;
    }

    static Elf64_Ehdr elf_header() {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_CORE;
        header.e_machine = EM_X86_64;
        header.e_version = EV_CURRENT;
        header.e_phoff = sizeof(Elf64_Ehdr);
        header.e_ehsize = sizeof(Elf64_Ehdr);
        header.e_phentsize = sizeof(Elf64_Phdr);
        return header;
    }
    static Elf64_Phdr program_header(std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
                                     std::uint64_t address, std::uint64_t file_bytes,
                                     std::uint64_t memory_bytes) {
        Elf64_Phdr header{};
        header.p_type = type;
        header.p_flags = flags;
        header.p_offset = offset;
        header.p_vaddr = address;
        header.p_filesz = file_bytes;
        header.p_memsz = memory_bytes;
        header.p_align = type == PT_NOTE ? 4 : 4096;
        return header;
    }
    /// Where `bytes()` has the program header of load `index`.
    static std::size_t header_of_load(std::size_t index) {
        return sizeof(Elf64_Ehdr) + (index + 1) * sizeof(Elf64_Phdr);
    }

    std::vector<Load> loads;
    std::string notes;
    bool gcore = false;
};

}  // namespace heapsift::test
