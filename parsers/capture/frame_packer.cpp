// Each format by its own library, at the level that keeps up with a disk: a core is written while its process goes on,
// and what changes meanwhile has to be read again. An object heap shrinks to a fourth or fifth by zstd's first level,
// nearly as much as by its third, at twice the speed; gzip's first is about as small and some times slower, xz's
// lowest smaller still and slower again, lz4 the fastest and the largest. Checksums are on in each.
//
// Of what a process has reserved, most was never touched: zeros without end. A piece of many is packed once, and given as
// often as it is needed; zstd's are put together without packing (zero_frames.h), and its readers need not unpack them.
//
// Source: RFC 8878 (zstd's frames follow each other), RFC 1952 (gzip's members), xz-file-format.txt 2.0 (streams), lz4's
// lz4_Frame_format.md; zstd.h, zlib.h, lzma/container.h, lz4frame.h.

#include "parsers/capture/frame_packer.h"

#include "parsers/base/error.h"
#include "parsers/elf/zero_frames.h"

#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>

namespace heapsift {
namespace {

constexpr std::size_t packed_block = 1 << 18;
constexpr std::size_t most_at_once = 1 << 20;
constexpr std::uint64_t many_zeros = 64 << 20;

struct Ending {
    Compression compression;
    std::string_view text;
};
constexpr std::array endings = {Ending{Compression::zstd, ".zst"}, Ending{Compression::gzip, ".gz"},
                                Ending{Compression::xz, ".xz"}, Ending{Compression::lz4, ".lz4"}};

class ZstdPacker final : public FramePacker {
public:
    ZstdPacker() : context_(ZSTD_createCCtx()), block_(packed_block) {
        ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
        ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    }
    ~ZstdPacker() override { ZSTD_freeCCtx(context_); }

    void pack_zeros(std::uint64_t count, const Give& give) override { give_zero_frames(count, give); }

private:
    bool begin(std::uint64_t bytes) override {
        return context_ && !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context_, bytes));
    }
    bool add(std::span<const std::byte> bytes, bool last, const Give& give) override {
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        for (;;) {
            ZSTD_outBuffer out{block_.data(), block_.size(), 0};
            const std::size_t left =
                ZSTD_compressStream2(context_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left)) return false;
            give(std::span(block_.data(), out.pos));
            if (last ? left == 0 : in.pos == in.size) return true;
        }
    }

    ZSTD_CCtx* context_;
    std::vector<std::byte> block_;
};

class GzipPacker final : public FramePacker {
public:
    GzipPacker() : block_(packed_block) {
        constexpr int level = 1, with_gzip_header = 16, most_memory = 9;
        ready_ = deflateInit2(&stream_, level, Z_DEFLATED, MAX_WBITS + with_gzip_header, most_memory,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~GzipPacker() override { deflateEnd(&stream_); }

private:
    bool begin(std::uint64_t) override { return ready_ && deflateReset(&stream_) == Z_OK; }
    bool add(std::span<const std::byte> bytes, bool last, const Give& give) override {
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        for (;;) {
            stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
            stream_.avail_out = static_cast<uInt>(block_.size());
            const int result = deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
            if (result == Z_STREAM_ERROR) return false;
            give(std::span(block_.data(), block_.size() - stream_.avail_out));
            if (last ? result == Z_STREAM_END : stream_.avail_out > 0) return true;
        }
    }

    z_stream stream_{};
    std::vector<std::byte> block_;
    bool ready_ = false;
};

class XzPacker final : public FramePacker {
public:
    XzPacker() : block_(packed_block) {}
    ~XzPacker() override { lzma_end(&stream_); }

private:
    bool begin(std::uint64_t) override {
        constexpr std::uint32_t preset = 0;
        return lzma_easy_encoder(&stream_, preset, LZMA_CHECK_CRC64) == LZMA_OK;
    }
    bool add(std::span<const std::byte> bytes, bool last, const Give& give) override {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
        stream_.avail_in = bytes.size();
        for (;;) {
            stream_.next_out = reinterpret_cast<std::uint8_t*>(block_.data());
            stream_.avail_out = block_.size();
            const lzma_ret result = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
            if (result != LZMA_OK && result != LZMA_STREAM_END) return false;
            give(std::span(block_.data(), block_.size() - stream_.avail_out));
            if (last ? result == LZMA_STREAM_END : stream_.avail_in == 0 && stream_.avail_out > 0)
                return true;
        }
    }

    lzma_stream stream_ = LZMA_STREAM_INIT;
    std::vector<std::byte> block_;
};

class Lz4Packer final : public FramePacker {
public:
    Lz4Packer() {
        ready_ = !LZ4F_isError(LZ4F_createCompressionContext(&context_, LZ4F_VERSION));
        preferences_.frameInfo.blockSizeID = LZ4F_max1MB;
        preferences_.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
        block_.resize(LZ4F_compressBound(most_at_once, &preferences_) + LZ4F_HEADER_SIZE_MAX);
    }
    ~Lz4Packer() override {
        if (ready_) LZ4F_freeCompressionContext(context_);
    }

private:
    bool begin(std::uint64_t bytes) override {
        if (!ready_) return false;
        preferences_.frameInfo.contentSize = bytes;
        header_ = LZ4F_compressBegin(context_, block_.data(), block_.size(), &preferences_);
        return !LZ4F_isError(header_);
    }
    bool add(std::span<const std::byte> bytes, bool last, const Give& give) override {
        if (header_ > 0) give(std::span(block_.data(), header_));
        header_ = 0;
        const std::size_t packed =
            LZ4F_compressUpdate(context_, block_.data(), block_.size(), bytes.data(), bytes.size(), nullptr);
        if (LZ4F_isError(packed)) return false;
        give(std::span(block_.data(), packed));
        if (!last) return true;
        const std::size_t rest = LZ4F_compressEnd(context_, block_.data(), block_.size(), nullptr);
        if (LZ4F_isError(rest)) return false;
        give(std::span(block_.data(), rest));
        return true;
    }

    LZ4F_cctx* context_ = nullptr;
    LZ4F_preferences_t preferences_{};
    std::vector<std::byte> block_;
    std::size_t header_ = 0;  // bytes of it in `block_`
    bool ready_ = false;
};

[[noreturn]] void cannot_pack() {
    throw cannot_analyse("too-little-memory", "too little memory to compress with");
}

}  // namespace

Compression compression_by_ending(std::string_view path) {
    const auto* found = std::find_if(endings.begin(), endings.end(),
                                     [&](const Ending& ending) { return path.ends_with(ending.text); });
    return found == endings.end() ? Compression::none : found->compression;
}

std::string_view ending_of(Compression compression) {
    const auto* found = std::find_if(endings.begin(), endings.end(),
                                     [&](const Ending& ending) { return ending.compression == compression; });
    return found == endings.end() ? std::string_view() : found->text;
}

std::unique_ptr<FramePacker> FramePacker::create(Compression compression) {
    switch (compression) {
        case Compression::gzip:
            return std::make_unique<GzipPacker>();
        case Compression::xz:
            return std::make_unique<XzPacker>();
        case Compression::lz4:
            return std::make_unique<Lz4Packer>();
        case Compression::zstd:
        case Compression::none:
            break;
    }
    return std::make_unique<ZstdPacker>();
}

void FramePacker::pack(std::span<const std::byte> bytes, const Give& give) {
    if (!begin(bytes.size())) cannot_pack();
    do {
        const std::span part = bytes.first(std::min(bytes.size(), most_at_once));
        bytes = bytes.subspan(part.size());
        if (!add(part, bytes.empty(), give)) cannot_pack();
    } while (!bytes.empty());
}

void FramePacker::pack_zeros(std::uint64_t count, const Give& give) {
    if (count >= many_zeros && packed_zeros_.empty())
        pack_few_zeros(many_zeros, [&](std::span<const std::byte> packed) {
            packed_zeros_.insert(packed_zeros_.end(), packed.begin(), packed.end());
        });
    for (; count >= many_zeros; count -= many_zeros) give(packed_zeros_);
    pack_few_zeros(count, give);
}

void FramePacker::pack_few_zeros(std::uint64_t count, const Give& give) {
    static const std::vector<std::byte> zeros(most_at_once);
    if (count == 0) return;
    if (!begin(count)) cannot_pack();
    while (count > 0) {
        const std::size_t part = std::min<std::uint64_t>(count, zeros.size());
        count -= part;
        if (!add(std::span(zeros.data(), part), count == 0, give)) cannot_pack();
    }
}

}  // namespace heapsift
