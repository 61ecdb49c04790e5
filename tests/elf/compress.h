#pragma once

// Compressed streams for tests, without the length of their content, as a pipe makes them.

#include "parsers/elf/unpacking.h"
#include "tests/catch.h"

#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace heapsift::test {

inline std::string gzip_of(const std::string& bytes) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

inline std::string zstd_of(const std::string& bytes) {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string out(ZSTD_compressBound(bytes.size()) + 64, '\0');
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (in.pos < in.size)
        REQUIRE_FALSE(ZSTD_isError(ZSTD_compressStream2(context, &to, &in, ZSTD_e_continue)));
    REQUIRE(ZSTD_compressStream2(context, &to, &in, ZSTD_e_end) == 0);
    ZSTD_freeCCtx(context);
    out.resize(to.pos);
    return out;
}

inline std::string xz_of(const std::string& bytes) {
    std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
    std::size_t size = 0;
    REQUIRE(lzma_easy_buffer_encode(
                1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                bytes.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) == LZMA_OK);
    out.resize(size);
    return out;
}

inline std::string lz4_of(const std::string& bytes) {
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    std::string out(LZ4F_compressFrameBound(bytes.size(), &preferences), '\0');
    const std::size_t size =
        LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), &preferences);
    REQUIRE_FALSE(LZ4F_isError(size));
    out.resize(size);
    return out;
}

/// `bytes`, compressed: one member or frame, with a checksum of the content.
inline std::string compressed(const std::string& bytes, Compression format) {
    switch (format) {
        case Compression::gzip:
            return gzip_of(bytes);
        case Compression::zstd:
            return zstd_of(bytes);
        case Compression::xz:
            return xz_of(bytes);
        case Compression::lz4:
            return lz4_of(bytes);
        case Compression::none:
            break;
    }
    return bytes;
}

}  // namespace heapsift::test
