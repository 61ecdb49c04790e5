#pragma once

// Compressing in pieces that unpack one after the other: zstd's and lz4's frames, gzip's members, xz's streams.

#include "parsers/elf/unpacking.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// What a file of this name is compressed as: by .zst, .gz, .xz, .lz4 at its end; else `none`.
Compression compression_by_ending(std::string_view path);
/// ".zst"; empty for `none`.
std::string_view ending_of(Compression compression);

/// Makes one piece after the other.
class FramePacker {
public:
    /// Not for `none`. Throws `Error` (exit 1, "too-little-memory").
    static std::unique_ptr<FramePacker> create(Compression compression);
    virtual ~FramePacker() = default;

    using Give = std::function<void(std::span<const std::byte>)>;
    /// A piece of `bytes` in all. Throws `Error` (exit 1, "too-little-memory"), and what `give` throws.
    void pack(std::span<const std::byte> bytes, const Give& give);
    /// Pieces of so many zeros in all. Cost: that of writing them, once 64 MiB of zeros were packed; for zstd not even that.
    /// They take, for each GiB, 32 KiB of zstd, 0.2 MiB of xz, 4 MiB of gzip and lz4. Throws as `pack` does.
    virtual void pack_zeros(std::uint64_t count, const Give& give);

protected:
    /// False if there is too little memory.
    virtual bool begin(std::uint64_t bytes) = 0;
    virtual bool add(std::span<const std::byte> bytes, bool last, const Give& give) = 0;

private:
    void pack_few_zeros(std::uint64_t count, const Give& give);
    std::vector<std::byte> packed_zeros_;  // a piece of many, once it is made
};

}  // namespace heapsift
