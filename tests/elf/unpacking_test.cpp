// Streams of the four formats: several members, several layers, what follows the last one, and damage at every place.

#include "parsers/elf/unpacking.h"

#include "tests/catch.h"
#include "tests/elf/compress.h"
#include "tests/elf/temporary_directory.h"

#include <random>
#include <string>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::size_t small_block = 4096;

struct Unpacked {
    bool opens = false, whole = false;
    std::string bytes;
};

Unpacked unpacked(const TemporaryDirectory& directory, const std::string& stream,
                  std::size_t block_bytes = small_block) {
    Unpacked result;
    const auto in = unpack_file(directory.write("stream", stream), block_bytes);
    if (!in) return result;
    result.opens = true;
    Bytes block;
    ByteStream::Status status;
    while ((status = in->next(block)) == ByteStream::Status::block) {
        REQUIRE(!block.empty());
        REQUIRE(block.size() <= block_bytes);
        result.bytes.append(reinterpret_cast<const char*>(block.data()), block.size());
    }
    CHECK(in->next(block) == status);  // and so on
    result.whole = status == ByteStream::Status::end;
    return result;
}

/// Half of it repeats.
std::string content(std::size_t size, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::string bytes(size, 'a');
    for (std::size_t i = 0; i < size / 2; ++i) bytes[i] = static_cast<char>(random());
    return bytes;
}

Compression any_format() {
    return GENERATE(Compression::gzip, Compression::zstd, Compression::xz, Compression::lz4);
}

}  // namespace

TEST_CASE("unpacking: each format, of any length, in blocks of any size", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const Compression format = any_format();
    for (const std::size_t size : {0, 1, 4095, 4096, 4097, 300'000}) {
        const std::string bytes = content(size), stream = compressed(bytes, format);
        CHECK(compression_of({reinterpret_cast<const std::byte*>(stream.data()), stream.size()}) == format);
        for (const std::size_t block : {std::size_t{64}, small_block, std::size_t{1} << 20}) {
            const Unpacked result = unpacked(directory, stream, block);
            CHECK(result.whole);
            CHECK((result.bytes == bytes));
        }
    }
}

TEST_CASE("unpacking: members and frames one after the other are one stream", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const Compression format = any_format();
    std::string stream, bytes;
    for (unsigned part = 0; part < 20; ++part) {
        const std::string more = content(part * 1000, part);
        bytes += more;
        stream += compressed(more, format);
    }
    const Unpacked result = unpacked(directory, stream);
    CHECK(result.whole);
    CHECK((result.bytes == bytes));
    const Unpacked cut = unpacked(directory, stream.substr(0, stream.size() - 3));
    CHECK(cut.opens);
    CHECK_FALSE(cut.whole);
    CHECK((bytes.starts_with(cut.bytes)));
}

TEST_CASE("unpacking: what was compressed twice is unpacked twice", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const std::string bytes = content(50'000);
    const Compression inner = any_format();
    for (const auto outer : {Compression::gzip, Compression::zstd, Compression::xz, Compression::lz4}) {
        const std::string stream = compressed(compressed(bytes, inner), outer);
        const Unpacked result = unpacked(directory, stream);
        CHECK(result.whole);
        CHECK((result.bytes == bytes));
        const Unpacked cut = unpacked(directory, stream.substr(0, stream.size() / 2));
        CHECK_FALSE(cut.whole);
        CHECK((bytes.starts_with(cut.bytes)));
    }
}

TEST_CASE("unpacking: what follows the last member", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const std::string bytes = content(10'000), zeros(64, '\0'), words = "and some words";
    for (const auto format : {Compression::gzip, Compression::lz4})
        for (const std::string& padding : {zeros, words}) {
            const Unpacked result = unpacked(directory, compressed(bytes, format) + padding);
            CHECK(result.whole);
            CHECK((result.bytes == bytes));
        }
    CHECK(unpacked(directory, compressed(bytes, Compression::xz) + zeros).whole);
    for (const auto& [format, padding] :
         {std::pair(Compression::xz, words), std::pair(Compression::zstd, words)}) {
        const Unpacked result = unpacked(directory, compressed(bytes, format) + padding);
        CHECK_FALSE(result.whole);
        CHECK((bytes.starts_with(result.bytes)));
    }
    // Frames that decoders are to skip.
    const std::string skipped = std::string("\x50\x2a\x4d\x18\x04\0\0\0rest", 12);
    for (const auto format : {Compression::zstd, Compression::lz4}) {
        const std::string frame = compressed(bytes, format);
        const Unpacked result = unpacked(directory, frame + skipped + frame);
        CHECK(result.whole);
        CHECK((result.bytes == bytes + bytes));
    }
}

TEST_CASE("unpacking: a stream that is cut is damaged, and what came before is not lost",
          "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const Compression format = any_format();
    const std::string bytes = content(20'000), stream = compressed(bytes, format);
    for (std::size_t size = 6; size < stream.size(); size += 1 + size / 64) {
        const Unpacked cut = unpacked(directory, stream.substr(0, size));
        CHECK(cut.opens);
        CHECK_FALSE(cut.whole);
        CHECK((bytes.starts_with(cut.bytes)));
    }
    CHECK(unpacked(directory, stream.substr(0, stream.size() - 1)).bytes.size() >= bytes.size() - 4096);
}

TEST_CASE("unpacking: a flipped bit is found", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    const Compression format = any_format();
    const std::string bytes = content(5'000), stream = compressed(bytes, format);
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        std::string damaged = stream;
        const std::size_t at = random() % damaged.size();
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
        const Unpacked result = unpacked(directory, damaged);
        // Only bits that say nothing of the content (gzip's time of a file) may go unnoticed.
        if (result.whole) CHECK((result.bytes == bytes));
    }
}

TEST_CASE("unpacking: no stream, no file, a folder", "[elf][unpacking]") {
    const TemporaryDirectory directory;
    CHECK_FALSE(unpacked(directory, "").opens);
    CHECK_FALSE(unpacked(directory, "plain text, and more of it").opens);
    CHECK_FALSE(unpack_file("/nonexistent", 4096));
    CHECK_FALSE(unpack_file(directory.path(), 4096));
    const Unpacked begins = unpacked(directory, std::string("\x28\xb5\x2f\xfd garbage", 12));
    CHECK(begins.opens);
    CHECK_FALSE(begins.whole);
    CHECK(begins.bytes.empty());
    const std::string gzip = compressed("text", Compression::gzip);
    CHECK_FALSE(unpack_xz({reinterpret_cast<const std::byte*>(gzip.data()), gzip.size()}, 4096));
}
