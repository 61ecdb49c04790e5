#pragma once

// Frames of zstd that hold nothing but zeros, so that a terabyte of memory that was never touched costs nearly nothing to
// write, and to read again. (The format, and why so: zero_frames.cpp.)

#include "parsers/elf/bytes.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace heapsift {

/// Gives the frames that unpack to `count` zeros, one after the other: two kilobytes for each 64 MiB. Any zstd unpacks them.
/// Cost: that of copying them.
void give_zero_frames(std::uint64_t count, const std::function<void(Bytes)>& give);

struct ZeroFrame {
    std::size_t packed = 0;   // bytes of the frame
    std::uint64_t zeros = 0;  // that it unpacks to
};

/// The frame that `packed` begins with, if it is whole, has no checksum and holds zeros in blocks that need no unpacking;
/// else all is 0. What it says of its size is checked against its blocks. Cost: a step for each block (of at most
/// 128 KiB of zeros), and reading those that are stored as they are; for other frames, a look at their beginning.
ZeroFrame zero_frame_in(Bytes packed);

}  // namespace heapsift
