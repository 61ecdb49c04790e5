// Source lines and inlined functions, from a file that the compiler made for this test.

#include "parsers/dwarf/source_lines.h"

#include "parsers/elf/elf_file.h"
#include "parsers/elf/symbols.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <fstream>
#include <iterator>
#include <random>

using namespace heapsift;

namespace {

struct Range {
    std::uint64_t start = 0, size = 0;
};

Range outer_function() {
    bool exists = false;
    const auto file = ElfFile::open(HEAPSIFT_INLINED_FILE, exists);
    REQUIRE(file);
    const SymbolTable symbols = SymbolTable::of_file(*file, 0);
    const Symbol* symbol = symbols.find("outer_function");
    REQUIRE(symbol != nullptr);
    return {symbol->address.value, symbol->size};
}

}  // namespace

TEST_CASE("source lines: inlined functions first, each with its line", "[dwarf][lines]") {
    const SourceLines lines(HEAPSIFT_INLINED_FILE);
    REQUIRE(lines.problem().empty());
    const Range function = outer_function();
    std::size_t inlined = 0;
    for (std::uint64_t i = 0; i < function.size; ++i) {
        const std::vector<SourceCall> calls = lines.calls_at(function.start + i);
        REQUIRE_FALSE(calls.empty());
        CHECK(calls.back().function == "outer_function");
        CHECK(calls.back().file.ends_with("inlined.c"));
        if (calls.size() != 3) continue;
        ++inlined;
        CHECK(calls[0].function == "innermost");
        CHECK(calls[1].function == "middle");
        CHECK(calls[1].line == 10);
        CHECK(calls[2].line == 14);
    }
    CHECK(inlined > 0);
    CHECK(lines.calls_at(0).empty());
    CHECK(lines.calls_at(~std::uint64_t{0}).empty());
}

TEST_CASE("source lines: what is no debug information says nothing", "[dwarf][lines]") {
    const test::TemporaryDirectory directory;
    for (const std::string& path : {std::string("/nonexistent"), directory.write("text", "no ELF file"),
                                    directory.write("short", "\177ELF\2\1\1"), std::string()}) {
        const SourceLines lines(path);
        CHECK_FALSE(lines.problem().empty());
        CHECK(lines.calls_at(0x1000).empty());
    }
}

TEST_CASE("source lines: a damaged file ends in fewer lines", "[dwarf][lines]") {
    std::ifstream in(HEAPSIFT_INLINED_FILE, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const Range function = outer_function();
    const test::TemporaryDirectory directory;
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        std::string damaged = whole;
        for (std::uint64_t n = 1 + random() % 40; n > 0; --n) {
            // After the code: there is the debug information.
            const std::size_t at = damaged.size() / 2 + random() % (damaged.size() / 2);
            damaged[at] = static_cast<char>(random());
        }
        const SourceLines lines(directory.write("damaged.so", damaged));
        for (std::uint64_t i = 0; i < function.size; i += 3)
            CHECK(lines.calls_at(function.start + i).size() <= 256);
    }
}
