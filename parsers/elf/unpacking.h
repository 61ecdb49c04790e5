#pragma once

// What a compressed stream holds, block by block: gzip, zstd, xz and lz4, told apart by their first bytes.
// (unpacking.cpp says how they are unpacked.)

#include "parsers/elf/bytes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heapsift {

enum class Compression : std::uint8_t { none, gzip, zstd, xz, lz4 };

/// How what begins with these bytes is compressed; six of them tell.
Compression compression_of(Bytes start);

/// Bytes that come one block after the other.
class ByteStream {
public:
    enum class Status : std::uint8_t {
        block,
        end,
        damaged  // or cut: what came before is not lost
    };
    ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;
    virtual ~ByteStream() = default;
    /// After `block`, `bytes` has at least one byte and is valid until the next call. After `end` or `damaged`,
    /// every further call says the same.
    virtual Status next(Bytes& bytes) = 0;
    /// Takes zeros that come next and need no unpacking (zero_frames.h); returns how many, 0 if there are none or it is not
    /// known. Who does not ask gets them from `next`.
    virtual std::uint64_t take_zeros() { return 0; }
};

/// The content of the compressed file at `path`, in blocks of at most `block_bytes`; of what was compressed
/// several times, the innermost. Null if the file cannot be opened, or its first bytes are no such stream's. A
/// file of several streams (gzip's members, frames) is all of them. Cost: the decompressor's; up to 128 MiB
/// for zstd's window, up to 1 GiB for that of xz: a stream that needs more is `damaged`.
std::unique_ptr<ByteStream> unpack_file(const std::string& path, std::size_t block_bytes);

/// The same of a stream in memory, which must outlive the result, compressed once. Null if it is none.
std::unique_ptr<ByteStream> unpack_bytes(Bytes packed, std::size_t block_bytes);

/// The same, of xz alone.
std::unique_ptr<ByteStream> unpack_xz(Bytes packed, std::size_t block_bytes);

}  // namespace heapsift
