// Which files are cores, by their first bytes.

#include "parsers/elf/core_probe.h"

#include "tests/catch.h"
#include "tests/elf/compress.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("core probe: ELF cores, plain and compressed; nothing else", "[elf][probe]") {
    const TemporaryDirectory directory;
    const std::string core = CoreWriter().thread(1, 6).load(0x10000, std::string(4096, 'a')).bytes();
    std::string program = core, big_endian = core;
    put_at(program, 16, std::uint16_t{ET_EXEC});
    big_endian[EI_DATA] = ELFDATA2MSB;
    put_at(big_endian, 16, std::uint16_t{ET_CORE << 8});
    CHECK(looks_like_core(directory.write("core", core)));
    CHECK(looks_like_core(directory.write("big-endian", big_endian)));
    CHECK_FALSE(looks_like_core(directory.write("program", program)));
    CHECK_FALSE(looks_like_core(directory.write("short", core.substr(0, 17))));
    CHECK_FALSE(looks_like_core(directory.write("empty", "")));
    CHECK_FALSE(looks_like_core(directory.path()));
    CHECK_FALSE(looks_like_core("/nonexistent"));
    CHECK_FALSE(looks_like_core("/dev/zero"));
    for (const auto format : {Compression::gzip, Compression::zstd, Compression::xz, Compression::lz4}) {
        CHECK(looks_like_core(directory.write("packed", compressed(core, format))));
        CHECK_FALSE(
            looks_like_core(directory.write("log", compressed("a log, and nothing but a log", format))));
    }
    CHECK_FALSE(
        looks_like_core(directory.write("cut.gz", std::string("\x1f\x8b", 2) + std::string(30, 'x'))));
}
