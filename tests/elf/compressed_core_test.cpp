// Compressed cores: the core inside is read, whatever the compression and the file's name; of a stream that
// ends early, its part.

#include "parsers/elf/core_file.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <memory>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A core with a megabyte of zeros, and bytes on both sides that do not repeat: about 200 KiB when
/// compressed.
std::string core_bytes() {
    std::string noise(200000, '\0');
    std::uint32_t state = 1;
    for (char& c : noise) {
        state = state * 1664525 + 1013904223;
        c = static_cast<char>(state >> 24);
    }
    CoreWriter writer;
    writer.process(7, "python", "python app.py").thread(7, 6);
    writer.load(0x10000000, noise + std::string(1 << 20, '\0') + noise);
    return writer.bytes();
}

/// `bytes` as `filter` (ARCHIVE_FILTER_…) compresses them: a stream without the length of its content.
std::string compressed(const std::string& bytes, int filter, const TemporaryDirectory& directory) {
    const std::string path = directory.below("stream");
    archive* out = archive_write_new();
    REQUIRE(archive_write_add_filter(out, filter) == ARCHIVE_OK);
    REQUIRE(archive_write_set_format_raw(out) == ARCHIVE_OK);
    REQUIRE(archive_write_open_filename(out, path.c_str()) == ARCHIVE_OK);
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    REQUIRE(archive_write_header(out, entry) == ARCHIVE_OK);
    REQUIRE(archive_write_data(out, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()));
    archive_entry_free(entry);
    archive_write_free(out);
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("compressed cores: each compression is told by content and read as the core inside",
          "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    const std::string core = core_bytes();
    const int filter =
        GENERATE(ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_LZ4);
    const std::string path = directory.write("no ending tells", compressed(core, filter, directory));
    Diagnostics diagnostics;
    const CoreFile file = CoreFile::open(path, {}, diagnostics);
    CHECK(diagnostics.complete());
    CHECK(file.process().pid == 7);
    CHECK(file.extent().file_bytes == core.size());
    CHECK(file.memory().read<std::uint64_t>(Address(0x10000000 + 200000 + 4096)) == std::uint64_t{0});
    const std::string last = core.substr(core.size() - 8);
    CHECK(file.memory().read<std::uint64_t>(Address(0x10000000 + 400000 + (1 << 20) - 8)) ==
          *reinterpret_cast<const std::uint64_t*>(last.data()));
    CHECK(std::filesystem::is_empty(directory.path() + "/heapsift"));  // nothing is left behind
}

TEST_CASE("compressed cores: a stream that ends early gives what it held, marked as damage",
          "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    std::string stream = compressed(core_bytes(), ARCHIVE_FILTER_GZIP, directory);
    stream.resize(stream.size() * 3 / 4);
    Diagnostics diagnostics;
    const CoreFile file = CoreFile::open(directory.write("core.gz", stream), {}, diagnostics);
    CHECK_FALSE(diagnostics.complete());
    CHECK(file.extent().cut());
    CHECK(file.process().pid == 7);
}

TEST_CASE("compressed cores: gzip's checksum is checked, and what comes before it is read",
          "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    std::string stream = compressed(core_bytes(), ARCHIVE_FILTER_GZIP, directory);
    // of the checksum, before four bytes of length
    stream[stream.size() - 6] = static_cast<char>(stream[stream.size() - 6] ^ 1);
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core.gz", stream), {}, diagnostics);
    CHECK_FALSE(diagnostics.complete());
    CHECK(core.memory().read<std::uint64_t>(Address(0x10000000)));
}

TEST_CASE(
    "compressed cores: a gzip that lacks but the end of its checksum has all of the core, and is marked",
    "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    const std::string bytes = core_bytes();
    std::string stream = compressed(bytes, ARCHIVE_FILTER_GZIP, directory);
    stream.resize(stream.size() - 5);
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core.gz", stream), {}, diagnostics);
    CHECK_FALSE(diagnostics.complete());
    CHECK(core.extent().file_bytes == bytes.size());
}

TEST_CASE("compressed cores: what is inside may be no core, and a stream may be none", "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    Diagnostics diagnostics;
    const std::string text =
        directory.write("log.gz", compressed("just a log\nof lines\n", ARCHIVE_FILTER_GZIP, directory));
    CHECK_THROWS_WITH(CoreFile::open(text, {}, diagnostics), ContainsSubstring("is a text file, not a core"));
    const std::string broken = directory.write("core.zst", std::string("\x28\xb5\x2f\xfd garbage", 12));
    CHECK_THROWS_WITH(CoreFile::open(broken, {}, diagnostics), ContainsSubstring("does not unpack"));
}
