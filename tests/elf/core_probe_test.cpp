// Which files are cores, by their first bytes.

#include "parsers/elf/core_probe.h"

#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <archive.h>
#include <archive_entry.h>

using namespace heapsift;
using namespace heapsift::test;

namespace {

void write_compressed(const std::string& path, const std::string& bytes) {
    archive* out = archive_write_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_raw(out);
    REQUIRE(archive_write_open_filename(out, path.c_str()) == ARCHIVE_OK);
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(out, entry);
    archive_write_data(out, bytes.data(), bytes.size());
    archive_entry_free(entry);
    archive_write_free(out);
}

}  // namespace

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
    const std::string packed = directory.path() + "/core.gz", log = directory.path() + "/log.gz";
    write_compressed(packed, core);
    write_compressed(log, "a log, and nothing but a log");
    CHECK(looks_like_core(packed));
    CHECK_FALSE(looks_like_core(log));
    CHECK_FALSE(
        looks_like_core(directory.write("cut.gz", std::string("\x1f\x8b", 2) + std::string(30, 'x'))));
}
