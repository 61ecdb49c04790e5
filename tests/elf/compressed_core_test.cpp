// Compressed cores: the core inside is read, whatever the compression and the file's name; of a stream that
// ends early, its part.

#include "parsers/elf/core_file.h"
#include "parsers/elf/unpacked_copy.h"
#include "tests/catch.h"
#include "tests/elf/compress.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

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

using State = UnpackedCopy::State;

/// A compressed core, and where it is kept unpacked.
struct Compressed {
    Compressed() {
        ::setenv("XDG_CACHE_HOME", directory.below("cache").c_str(), 1);
        path = directory.write("core.gz", compressed(core, Compression::gzip));
        copy_path = directory.path() + "/kept/core.unpacked";
    }
    /// Opens it as one command does, and checks that it is the core. Returns what became of the copy.
    State open(std::uint64_t limit = ~std::uint64_t{0}) const {
        UnpackedCopy copy(copy_path, limit, 0);
        Diagnostics diagnostics;
        const CoreFile file = CoreFile::open(path, {}, diagnostics, &copy);
        CHECK(diagnostics.complete());
        CHECK(file.extent().file_bytes == core.size());
        std::uint64_t word = 0;  // the first of the second noise
        std::memcpy(&word, core.data() + core.size() - 200000, sizeof word);
        CHECK(file.memory().read<std::uint64_t>(Address(0x10000000 + 200000 + (1 << 20))) == word);
        return copy.state();
    }
    std::size_t files_kept() const {
        const auto folder = std::filesystem::path(copy_path).parent_path();
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
    }

    TemporaryDirectory directory;
    std::string core = core_bytes(), path, copy_path;
};

}  // namespace

TEST_CASE("compressed cores: each compression is told by content and read as the core inside",
          "[elf][compressed]") {
    const TemporaryDirectory directory;
    ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    const std::string core = core_bytes();
    const auto format = GENERATE(Compression::gzip, Compression::xz, Compression::zstd, Compression::lz4);
    const std::string path = directory.write("no ending tells", compressed(core, format));
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
    std::string stream = compressed(core_bytes(), Compression::gzip);
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
    std::string stream = compressed(core_bytes(), Compression::gzip);
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
    std::string stream = compressed(bytes, Compression::gzip);
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
        directory.write("log.gz", compressed("just a log\nof lines\n", Compression::gzip));
    CHECK_THROWS_WITH(CoreFile::open(text, {}, diagnostics), ContainsSubstring("is a text file, not a core"));
    const std::string broken = directory.write("core.zst", std::string("\x28\xb5\x2f\xfd garbage", 12));
    CHECK_THROWS_WITH(CoreFile::open(broken, {}, diagnostics), ContainsSubstring("does not unpack"));
}

TEST_CASE("unpacked copies: the next command finds what the first one unpacked", "[elf][compressed]") {
    const Compressed compressed;
    CHECK(compressed.open() == State::kept);
    CHECK(compressed.open() == State::found);
    CHECK(compressed.files_kept() == 2);  // the copy, and what is known of it
    struct stat status {};
    REQUIRE(::stat(compressed.copy_path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(static_cast<std::size_t>(status.st_size) == compressed.core.size());
    CHECK(static_cast<std::size_t>(status.st_blocks) * 512 < compressed.core.size());  // zeros are holes
    CHECK_FALSE(std::filesystem::exists(compressed.directory.path() + "/cache"));
}

TEST_CASE("unpacked copies: one that was written to, cut or lent to others is made anew",
          "[elf][compressed]") {
    const Compressed compressed;
    REQUIRE(compressed.open() == State::kept);
    const auto damage = GENERATE(0, 1, 2, 3, 4, 5);
    const std::string checked = compressed.copy_path + UnpackedCopy::checked_ending;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the time of change has steps
    switch (damage) {
        case 0: {
            std::fstream file(compressed.copy_path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(-200000, std::ios::end);
            file << "another";
            break;
        }
        case 1:
            std::filesystem::resize_file(compressed.copy_path, compressed.core.size() / 2);
            break;
        case 2:
            std::filesystem::remove(checked);
            break;
        case 3:
            std::filesystem::resize_file(checked, 30);
            break;
        case 4:
            REQUIRE(::chmod(compressed.copy_path.c_str(), 0666) == 0);
            break;
        default:
            std::filesystem::rename(compressed.copy_path, compressed.copy_path + ".x");
            std::filesystem::create_symlink(compressed.copy_path + ".x", compressed.copy_path);
            break;
    }
    CHECK(compressed.open() == State::kept);
    CHECK(compressed.open() == State::found);
}

TEST_CASE("unpacked copies: another core at the same path is unpacked", "[elf][compressed]") {
    Compressed compressed;
    REQUIRE(compressed.open() == State::kept);
    struct stat status {};
    REQUIRE(::stat(compressed.path.c_str(), &status) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    compressed.core[compressed.core.size() - 200000] ^= 1;
    std::ofstream(compressed.path, std::ios::binary) << test::compressed(compressed.core, Compression::gzip);
    const timespec times[2] = {status.st_atim, status.st_mtim};  // and its time is set back
    REQUIRE(::utimensat(AT_FDCWD, compressed.path.c_str(), times, 0) == 0);
    CHECK(compressed.open() == State::kept);
    CHECK(compressed.open() == State::found);
}

TEST_CASE("unpacked copies: where there is no room or no writing, the core is read all the same",
          "[elf][compressed]") {
    Compressed compressed;
    CHECK(compressed.open(100'000) == State::no_room);
    CHECK(compressed.files_kept() == 0);
    CHECK(compressed.open() == State::kept);
    compressed.copy_path = compressed.directory.write("file", "") + "/core.unpacked";
    CHECK(compressed.open() == State::cannot_write);
}

TEST_CASE("unpacked copies: a stream that is cut, or holds no core, is not kept", "[elf][compressed]") {
    Compressed compressed;
    UnpackedCopy copy(compressed.copy_path, ~std::uint64_t{0}, 0);
    Diagnostics diagnostics;
    const auto size = std::filesystem::file_size(compressed.path);
    std::filesystem::resize_file(compressed.path, size - 5);
    for (int turn = 0; turn < 2; ++turn) {
        Diagnostics each;
        CHECK(CoreFile::open(compressed.path, {}, each, &copy).process().pid == 7);
        CHECK_FALSE(each.complete());
    }
    std::ofstream(compressed.path, std::ios::binary)
        << test::compressed("just a log\nof lines\n", Compression::gzip);
    CHECK_THROWS(CoreFile::open(compressed.path, {}, diagnostics, &copy));
    CHECK(copy.state() == State::unused);
    CHECK(compressed.files_kept() == 0);
}

TEST_CASE("unpacked copies: several commands at once", "[elf][compressed]") {
    const Compressed compressed;
    for (int turn = 0; turn < 5; ++turn) {
        std::vector<std::thread> commands;
        std::vector<std::uint64_t> bytes(4);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            commands.emplace_back([&, i] {
                UnpackedCopy copy(compressed.copy_path, ~std::uint64_t{0}, 0);
                Diagnostics diagnostics;
                bytes[i] = CoreFile::open(compressed.path, {}, diagnostics, &copy).extent().file_bytes;
            });
        for (std::thread& command : commands) command.join();
        for (const std::uint64_t got : bytes) CHECK(got == compressed.core.size());
        CHECK(compressed.files_kept() == 2);
        std::filesystem::remove(compressed.copy_path);
    }
    CHECK(compressed.open() == State::kept);
    CHECK(compressed.open() == State::found);
}
