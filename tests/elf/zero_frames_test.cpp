// Frames of zeros: what zstd's own library unpacks of them, and what is taken for one.

#include "parsers/elf/zero_frames.h"

#include "parsers/elf/unpacking.h"
#include "tests/catch.h"

#include <cstring>
#include <string>

using namespace heapsift;

namespace {

constexpr std::uint64_t mib = 1 << 20;

Bytes as_bytes(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string zero_frames(std::uint64_t count) {
    std::string frames;
    give_zero_frames(count, [&](Bytes frame) {
        frames.append(reinterpret_cast<const char*>(frame.data()), frame.size());
    });
    return frames;
}

struct Content {
    std::uint64_t bytes = 0, taken = 0;  // in all; of them, without unpacking
    bool zero = true, whole = false;
};

Content content_of(const std::string& packed, bool ask) {
    Content content;
    const auto stream = unpack_bytes(as_bytes(packed), 1 << 16);
    REQUIRE(stream);
    for (;;) {
        if (const std::uint64_t zeros = ask ? stream->take_zeros() : 0; zeros > 0) {
            content.bytes += zeros;
            content.taken += zeros;
            continue;
        }
        Bytes block;
        const ByteStream::Status status = stream->next(block);
        content.whole = status == ByteStream::Status::end;
        if (status != ByteStream::Status::block) return content;
        content.bytes += block.size();
        for (const std::byte b : block) content.zero = content.zero && b == std::byte{0};
    }
}

}  // namespace

TEST_CASE("frames of zeros: zstd unpacks them, and who asks need not", "[unpacking]") {
    const std::uint64_t count = GENERATE(1, 2, 4096, 131072, 131073, 131074, mib, 64 * mib - 1, 64 * mib,
                                         64 * mib + 1, 200 * mib + 12345);
    const std::string frames = zero_frames(count);
    CHECK(frames.size() <= 32 * (count / mib + 2) + 100);
    const Content unpacked = content_of(frames, false);
    CHECK(unpacked.whole);
    CHECK(unpacked.zero);
    CHECK(unpacked.bytes == count);
    const Content asked = content_of(zero_frames(5) + frames, true);
    CHECK(asked.whole);
    CHECK(asked.zero);
    CHECK(asked.bytes == count + 5);
    CHECK(asked.taken == count);  // the first frame of a stream is unpacked
}

TEST_CASE("frames of zeros: none are made of nothing", "[unpacking]") { CHECK(zero_frames(0).empty()); }

TEST_CASE("frames of zeros: what is cut, has another byte, or another size than it says, is none",
          "[unpacking]") {
    const std::string frame = zero_frames(mib);
    REQUIRE(zero_frame_in(as_bytes(frame)).zeros == mib);
    CHECK(zero_frame_in(as_bytes(frame)).packed == frame.size());
    CHECK(zero_frame_in(as_bytes(frame + "more")).packed == frame.size());
    for (std::size_t size = 0; size < frame.size(); ++size)
        CHECK(zero_frame_in(as_bytes(frame.substr(0, size))).zeros == 0);
    for (std::size_t at = 0; at < frame.size(); ++at)
        for (const int bit : {0, 3, 7}) {
            std::string other = frame;
            other[at] = static_cast<char>(other[at] ^ 1 << bit);
            const ZeroFrame found = zero_frame_in(as_bytes(other));
            CHECK(found.zeros == 0);
            CHECK(found.packed == 0);
        }
}
