#pragma once

// An image with unwind tables, whole in a core, and a stack on which its functions call each other.

#include "tests/elf/core_writer.h"

#include <elf.h>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift::test {

/// Functions of the image, by address. What their tables say:
struct UnwindImage {
    static constexpr std::uint64_t base = 0x7f0000000000, page = 4096;
    static constexpr std::uint64_t plain = base + page,  // its frame is 32 bytes, with the return address
        keeps_rbp = plain + 0x100,                       // the same in 16 bytes, the first of which save rbp
        trampoline = plain + 0x200,                      // of a signal: the stack has rsp at +16, rip at +24
        outermost = plain + 0x300,                       // has no caller
        without_rules = plain + 0x400;
    static constexpr std::uint64_t stack = 0x7ffd00000000;
    static constexpr std::size_t table_at = 0x900, index_at = 0x800;

    static std::string bytes() {
        std::string image(2 * page, '\0');
        Elf64_Ehdr header = CoreWriter::elf_header();
        header.e_type = ET_DYN;
        header.e_phnum = 3;
        put_at(image, 0, header);
        const Elf64_Phdr headers[] = {
            CoreWriter::program_header(PT_LOAD, PF_R, 0, 0, page, page),
            CoreWriter::program_header(PT_LOAD, PF_R | PF_X, page, page, page, page),
            CoreWriter::program_header(PT_GNU_EH_FRAME, PF_R, index_at, index_at, 8, 8)};
        put_at(image, sizeof header, headers);
        image.replace(index_at, 4, "\x01\x1b\xff\xff", 4);
        put_at(image, index_at + 4, static_cast<std::int32_t>(table_at - (index_at + 4)));
        const std::string written = table();
        image.replace(table_at, written.size(), written);
        return image;
    }

    static std::string table() {
        std::string out;
        using namespace std::string_literals;
        const std::string start = "\x0c\x07\x08\x90\x01"s;  // def_cfa rsp+8; the return address at CFA-8
        const std::size_t common = entry(out, 0, "\x01zR\0\x01\x78\x10\x01\x1b"s + start);
        const std::size_t of_signals = entry(out, 0, "\x01zRS\0\x01\x78\x10\x01\x1b"s + start);
        function(out, common, plain, "\x0e\x20"s);                  // def_cfa_offset 32
        function(out, common, keeps_rbp, "\x0c\x06\x10\x86\x02"s);  // def_cfa rbp+16; rbp at CFA-16
        function(out, of_signals, trampoline,
                 "\x0f\x03\x77\x10\x06"                 // CFA: breg7+16, deref
                 "\x10\x10\x02\x77\x18"s);              // the return address: at breg7+24
        function(out, common, outermost, "\x07\x10"s);  // undefined
        return out + std::string(4, '\0');
    }

    /// A core whose one thread has these registers, and this stack.
    static CoreWriter core(std::uint64_t rip, std::uint64_t rsp, std::uint64_t rbp,
                           const std::vector<std::uint64_t>& words, const std::string& image = bytes()) {
        CoreWriter writer;
        std::string status(336, '\0');
        put_at(status, 12, std::int16_t{11});
        put_at(status, 32, std::int32_t{1});
        put_at(status, 112 + 16 * 8, rip);
        put_at(status, 112 + 19 * 8, rsp);
        put_at(status, 112 + 4 * 8, rbp);
        std::string stack_bytes;
        for (const std::uint64_t word : words) stack_bytes += bytes_of(word);
        writer.note(NT_PRSTATUS, status)
            .files({{base, base + page, 0, "/nowhere/libunwind-test.so"},
                    {base + page, base + 2 * page, 1, "/nowhere/libunwind-test.so"}})
            .load(base, image.substr(0, page), page, PF_R)
            .load(base + page, image.substr(page, page), page, PF_R | PF_X)
            .load(stack, stack_bytes);
        return writer;
    }

private:
    /// Appends an entry; returns where.
    static std::size_t entry(std::string& out, std::uint32_t id, std::string content) {
        content.resize((content.size() + 3) / 4 * 4 + 4);  // nops
        const std::size_t at = out.size();
        out += bytes_of(static_cast<std::uint32_t>(content.size() + 4)) + bytes_of(id) + content;
        return at;
    }
    static void function(std::string& out, std::size_t common, std::uint64_t address,
                         const std::string& rules) {
        const std::size_t at = out.size();
        const auto distance = static_cast<std::int32_t>(address - (base + table_at + at + 8));
        entry(out, static_cast<std::uint32_t>(at + 4 - common),
              bytes_of(distance) + bytes_of(std::uint32_t{0x100}) + std::string(1, '\0') + rules);
    }
};

}  // namespace heapsift::test
