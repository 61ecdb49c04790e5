// A frame is made of blocks of at most 128 KiB, and a block of one byte that is repeated takes four. libzstd makes such blocks
// too, but has to read the zeros first, 0.2 s for each gibibyte, and to unpack them writes as much. So frames of zeros are
// put together here, and known again by their blocks alone, without unpacking.
//
// The first block is one byte as it is: zstd(1) before 1.4.4 does not take a repeated byte there. The window is that of one
// block, so that no more memory is asked for than for any small frame. A frame has 64 MiB: small enough to lie within what a
// reader has in its buffer, mostly. There is no checksum, which would have to read the zeros; blocks that are not of zeros, or do
// not add up to the size that the frame gives, are left to the usual unpacking.
//
// Source: RFC 8878, 3.1.1 (Zstandard frames, frame header, blocks).

#include "parsers/elf/zero_frames.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t largest_block = 128 << 10, most_zeros = 64 << 20;
enum BlockType : std::uint32_t { stored = 0, repeated = 1 };

// The magic number; a frame header with a size of 8 bytes, without checksum and dictionary; a window of 128 KiB.
constexpr std::string_view frame_start = "\x28\xb5\x2f\xfd\xc0\x38"sv;
constexpr std::size_t size_bytes = 8, block_header_bytes = 3;
constexpr std::size_t header_size = frame_start.size() + size_bytes;

/// 1 <= zeros.
std::string zero_frame(std::uint64_t zeros) {
    std::string frame(frame_start);
    const auto add = [&](std::uint64_t number, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) frame += static_cast<char>(number >> 8 * i);
    };
    add(zeros, size_bytes);
    for (std::uint64_t done = 0; done < zeros;) {
        const std::uint64_t part = done == 0 ? 1 : std::min(largest_block, zeros - done);
        const BlockType type = done == 0 ? stored : repeated;
        done += part;
        add((part << 3) | (static_cast<std::uint64_t>(type) << 1) | (done == zeros), block_header_bytes);
        frame += '\0';
    }
    return frame;
}

std::uint64_t little_endian(Bytes bytes, std::size_t at, std::size_t count) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i) number |= std::to_integer<std::uint64_t>(bytes[at + i]) << 8 * i;
    return number;
}

}  // namespace

void give_zero_frames(std::uint64_t count, const std::function<void(Bytes)>& give) {
    const auto give_text = [&](const std::string& frame) {
        give({reinterpret_cast<const std::byte*>(frame.data()), frame.size()});
    };
    if (count >= most_zeros) {
        const std::string frame = zero_frame(most_zeros);
        for (; count >= most_zeros; count -= most_zeros) give_text(frame);
    }
    if (count > 0) give_text(zero_frame(count));
}

ZeroFrame zero_frame_in(Bytes packed) {
    if (packed.size() < header_size ||
        std::memcmp(packed.data(), frame_start.data(), frame_start.size()) != 0)
        return {};
    const std::uint64_t promised = little_endian(packed, frame_start.size(), size_bytes);
    std::uint64_t zeros = 0;
    for (std::size_t at = header_size;;) {
        if (packed.size() - at < block_header_bytes) return {};
        const std::uint64_t header = little_endian(packed, at, block_header_bytes);
        at += block_header_bytes;
        const std::uint64_t type = header >> 1 & 3, size = header >> 3;
        if (type > repeated || size > largest_block) return {};
        const std::uint64_t bytes = type == repeated ? 1 : size;
        if (packed.size() - at < bytes) return {};
        const Bytes content = packed.subspan(at, bytes);
        if (std::any_of(content.begin(), content.end(), [](std::byte b) { return b != std::byte{0}; }))
            return {};
        at += bytes;
        zeros += size;
        if (zeros > promised) return {};
        if ((header & 1) != 0) return zeros == promised ? ZeroFrame{at, zeros} : ZeroFrame{};
    }
}

}  // namespace heapsift
