// Symbols in a compressed file inside the module's file.

#include "parsers/elf/debug_data.h"

#include "parsers/elf/symbols.h"
#include "tests/catch.h"
#include "tests/elf/compress.h"
#include "tests/elf/image_writer.h"
#include "tests/elf/temporary_directory.h"

#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// An ELF file of which only this section is left.
std::string file_with(const std::string& section) {
    const std::string names = with_nuls("\0.gnu_debugdata\0.shstrtab");
    Elf64_Ehdr header = CoreWriter::elf_header();
    header.e_type = ET_DYN;
    header.e_phoff = 0;
    header.e_shnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shstrndx = 2;
    Elf64_Shdr data{}, strings{};
    data.sh_name = 1;
    data.sh_type = SHT_PROGBITS;
    data.sh_offset = sizeof header;
    data.sh_size = section.size();
    strings.sh_name = 16;
    strings.sh_type = SHT_STRTAB;
    strings.sh_offset = sizeof header + section.size();
    strings.sh_size = names.size();
    std::string body = section + names;
    body.resize((body.size() + 7) / 8 * 8);
    header.e_shoff = sizeof header + body.size();
    return bytes_of(header) + body + bytes_of(Elf64_Shdr{}) + bytes_of(data) + bytes_of(strings);
}

Bytes bytes_in(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("debug data: the symbols of the file inside are the module's", "[elf][symbols]") {
    const std::string inside = ImageWriter().bytes();
    const std::string outside = file_with(compressed(inside, Compression::xz));
    CHECK(unpacked_debug_data(bytes_in(outside)) == inside);
    const TemporaryDirectory directory;
    bool exists = false;
    const auto file = ElfFile::open(directory.write("lib.so", outside), exists);
    REQUIRE(file);
    const SymbolTable symbols = SymbolTable::of_debug_data(*file, 0x1000);
    const Symbol* code = symbols.find("the_code");
    REQUIRE(code != nullptr);
    CHECK(code->address == Address(0x1000 + ImageWriter::code_at));
}

TEST_CASE("debug data: what is damaged or no such file gives nothing", "[elf][symbols]") {
    CHECK(unpacked_debug_data({}).empty());
    CHECK(unpacked_debug_data(bytes_in(ImageWriter().bytes())).empty());
    CHECK(unpacked_debug_data(bytes_in(file_with("no xz"))).empty());
    const std::string packed = compressed(ImageWriter().bytes(), Compression::xz);
    CHECK(unpacked_debug_data(bytes_in(file_with(packed.substr(0, packed.size() / 2)))).empty());
    std::mt19937_64 random(3);
    const std::string whole = file_with(packed);
    for (int round = 0; round < 500; ++round) {
        std::string damaged = whole;
        damaged[random() % damaged.size()] = static_cast<char>(random());
        CHECK(unpacked_debug_data(bytes_in(damaged)).size() <= 256U << 20);
    }
}
