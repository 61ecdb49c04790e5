// Four formats, each by the library of those who made it: zlib, libzstd, liblzma, liblz4. Each can be linked into a
// static program, and all check the checksums of what they unpack.
//
// The idea: a stream takes blocks from another stream (a file, or memory), and gives blocks: so what was compressed
// twice is two of them, one on the other. A format is a `Decoder`: it takes what it can from the input, puts what it
// can into the output, and says where one member or frame ends. The loop around it, what may follow a member, and
// what a cut means, are the same for all.
//
// What may follow the last member: after gzip and lz4 anything that is not another one (tapes and block devices pad
// with zeros), as gzip(1) and libarchive have it; after zstd's frames only frames, as zstd(1) has it; of xz, liblzma
// decides itself (padding of zeros, in fours).

#include "parsers/elf/unpacking.h"

#include "parsers/base/descriptor.h"
#include "parsers/elf/zero_frames.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t most_xz_memory = std::uint64_t{1} << 30;
constexpr int most_layers = 8;

struct Magic {
    Compression compression;
    std::string_view start;
};
constexpr std::array unpacking_magics = {
    Magic{Compression::gzip, "\x1f\x8b"sv}, Magic{Compression::zstd, "\x28\xb5\x2f\xfd"sv},
    Magic{Compression::xz, "\xfd\x37\x7a\x58\x5a\x00"sv}, Magic{Compression::lz4, "\x04\x22\x4d\x18"sv}};

/// Whether `bytes` begins so, as far as it goes: what a block ends with may be the start of a magic number.
bool begins_as(Bytes bytes, std::string_view magic) {
    const std::size_t count = std::min(bytes.size(), magic.size());
    return std::memcmp(bytes.data(), magic.data(), count) == 0;
}

/// Where a decoder reads and writes; it moves both on.
struct Buffers {
    const std::byte* in;
    std::size_t in_left;
    std::byte* out;
    std::size_t out_left;

    void advance(std::size_t taken, std::size_t given) {
        in += taken;
        in_left -= taken;
        out += given;
        out_left -= given;
    }
};

class Decoder {
public:
    enum class Result : std::uint8_t { more, member_end, damaged };
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;
    /// Takes and gives as much as it can. `at_end`: nothing follows the input.
    virtual Result decode(Buffers& buffers, bool at_end) = 0;
    /// After member_end, where more follows.
    virtual void begin_member() {}
    /// Whether what follows a member is not another one, and so is left alone.
    virtual bool is_padding(Bytes /*following*/) const { return false; }
    /// The member that begins here, if it is of zeros and need not be unpacked; else all is 0.
    virtual ZeroFrame zeros_in(Bytes /*following*/) const { return {}; }
    /// Whether member_end is the end of all members.
    virtual bool takes_all_members() const { return false; }
};

class GzipDecoder : public Decoder {
public:
    GzipDecoder() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
    ~GzipDecoder() override { inflateEnd(&stream_); }

    Result decode(Buffers& buffers, bool) override {
        if (!ready_) return Result::damaged;
        // Blocks are far below 4 GiB, but inputs are of any size.
        const auto in = static_cast<uInt>(std::min<std::size_t>(buffers.in_left, 1U << 30));
        const auto out = static_cast<uInt>(std::min<std::size_t>(buffers.out_left, 1U << 30));
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(buffers.in));
        stream_.avail_in = in;
        stream_.next_out = reinterpret_cast<Bytef*>(buffers.out);
        stream_.avail_out = out;
        const int result = inflate(&stream_, Z_NO_FLUSH);
        buffers.advance(in - stream_.avail_in, out - stream_.avail_out);
        if (result == Z_STREAM_END) return Result::member_end;
        return result == Z_OK ? Result::more : Result::damaged;
    }
    void begin_member() override { inflateReset(&stream_); }
    bool is_padding(Bytes following) const override { return !begins_as(following, "\x1f\x8b"sv); }

private:
    z_stream stream_{};
    bool ready_ = false;
};

class ZstdDecoder : public Decoder {
public:
    ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

    Result decode(Buffers& buffers, bool) override {
        if (!stream_) return Result::damaged;
        ZSTD_inBuffer in{buffers.in, buffers.in_left, 0};
        ZSTD_outBuffer out{buffers.out, buffers.out_left, 0};
        const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
        buffers.advance(in.pos, out.pos);
        if (ZSTD_isError(result)) return Result::damaged;
        return result == 0 ? Result::member_end : Result::more;
    }
    ZeroFrame zeros_in(Bytes following) const override { return zero_frame_in(following); }

private:
    ZSTD_DStream* stream_ = ZSTD_createDStream();
};

class XzDecoder : public Decoder {
public:
    XzDecoder() { ready_ = lzma_stream_decoder(&stream_, most_xz_memory, LZMA_CONCATENATED) == LZMA_OK; }
    ~XzDecoder() override { lzma_end(&stream_); }

    Result decode(Buffers& buffers, bool at_end) override {
        if (!ready_) return Result::damaged;
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(buffers.in);
        stream_.avail_in = buffers.in_left;
        stream_.next_out = reinterpret_cast<std::uint8_t*>(buffers.out);
        stream_.avail_out = buffers.out_left;
        const lzma_ret result = lzma_code(&stream_, at_end ? LZMA_FINISH : LZMA_RUN);
        buffers.advance(buffers.in_left - stream_.avail_in, buffers.out_left - stream_.avail_out);
        if (result == LZMA_STREAM_END) return Result::member_end;
        return result == LZMA_OK ? Result::more : Result::damaged;
    }
    bool takes_all_members() const override { return true; }

private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_ = false;
};

class Lz4Decoder : public Decoder {
public:
    Lz4Decoder() { ready_ = !LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)); }
    ~Lz4Decoder() override {
        if (ready_) LZ4F_freeDecompressionContext(context_);
    }

    Result decode(Buffers& buffers, bool) override {
        if (!ready_) return Result::damaged;
        std::size_t given = buffers.out_left, taken = buffers.in_left;
        const std::size_t result =
            LZ4F_decompress(context_, buffers.out, &given, buffers.in, &taken, nullptr);
        if (LZ4F_isError(result)) return Result::damaged;
        buffers.advance(taken, given);
        return result == 0 ? Result::member_end : Result::more;
    }
    bool is_padding(Bytes following) const override {
        const bool may_be_skipped = (following[0] & std::byte{0xf0}) == std::byte{0x50} &&
                                    begins_as(following.subspan(1), "\x2a\x4d\x18"sv);
        return !may_be_skipped && !begins_as(following, "\x04\x22\x4d\x18"sv);
    }

private:
    LZ4F_dctx* context_ = nullptr;
    bool ready_ = false;
};

std::unique_ptr<Decoder> decoder_of(Compression compression) {
    switch (compression) {
        case Compression::gzip:
            return std::make_unique<GzipDecoder>();
        case Compression::zstd:
            return std::make_unique<ZstdDecoder>();
        case Compression::xz:
            return std::make_unique<XzDecoder>();
        case Compression::lz4:
            return std::make_unique<Lz4Decoder>();
        case Compression::none:
            break;
    }
    return nullptr;
}

class FileStream : public ByteStream {
public:
    FileStream(int fd, std::size_t block_bytes) : file_(fd), block_(block_bytes) {}
    Status next(Bytes& bytes) override {
        ssize_t got;
        do got = ::read(file_.number(), block_.data(), block_.size());
        while (got < 0 && errno == EINTR);
        if (got <= 0) return got == 0 ? Status::end : Status::damaged;
        bytes = {block_.data(), static_cast<std::size_t>(got)};
        return Status::block;
    }

private:
    Descriptor file_;
    std::vector<std::byte> block_;
};

/// Bytes that are there, and then what follows in another stream, if there is one.
class BeginningWith : public ByteStream {
public:
    BeginningWith(Bytes first, std::unique_ptr<ByteStream> rest) : first_(first), rest_(std::move(rest)) {}
    Status next(Bytes& bytes) override {
        bytes = std::exchange(first_, {});
        if (!bytes.empty()) return Status::block;
        return rest_ ? rest_->next(bytes) : Status::end;
    }
    std::uint64_t take_zeros() override { return first_.empty() && rest_ ? rest_->take_zeros() : 0; }

private:
    Bytes first_;  // the last block of `rest_`, which gave nothing since
    std::unique_ptr<ByteStream> rest_;
};

class UnpackedStream : public ByteStream {
public:
    UnpackedStream(std::unique_ptr<ByteStream> packed, std::unique_ptr<Decoder> decoder,
                   std::size_t block_bytes)
        : packed_(std::move(packed)), decoder_(std::move(decoder)), block_(block_bytes) {}

    Status next(Bytes& bytes) override {
        buffers_.out = block_.data();
        buffers_.out_left = block_.size();
        while (status_ == Status::block && buffers_.out_left > 0) {
            if (buffers_.out_left < block_.size() && zeros_ahead().zeros > 0) break;  // they may be asked for
            step();
        }
        const std::size_t got = block_.size() - buffers_.out_left;
        if (got == 0) return status_;
        bytes = {block_.data(), got};
        return Status::block;
    }
    std::uint64_t take_zeros() override {
        const ZeroFrame frame = zeros_ahead();
        buffers_.advance(frame.packed, 0);
        return frame.zeros;
    }

private:
    ZeroFrame zeros_ahead() {
        if (!between_members_ || status_ != Status::block) return {};
        if (buffers_.in_left == 0 && packed_status_ == Status::block) fill();
        return decoder_->zeros_in({buffers_.in, buffers_.in_left});
    }

    void step() {
        if (buffers_.in_left == 0 && packed_status_ == Status::block) fill();
        const bool at_end = buffers_.in_left == 0;
        if (between_members_ && (at_end || decoder_->is_padding({buffers_.in, buffers_.in_left}))) {
            finish();
            return;
        }
        if (std::exchange(between_members_, false)) decoder_->begin_member();
        // A decoder may still have output that it had no room for; if it has none, the input was cut.
        const std::size_t in_before = buffers_.in_left, out_before = buffers_.out_left;
        switch (decoder_->decode(buffers_, at_end)) {
            case Decoder::Result::member_end:
                between_members_ = !decoder_->takes_all_members();
                if (!between_members_) finish();
                break;
            case Decoder::Result::damaged:
                status_ = Status::damaged;
                break;
            case Decoder::Result::more:
                if (buffers_.in_left == in_before && buffers_.out_left == out_before && at_end)
                    status_ = Status::damaged;
                break;
        }
    }

    void finish() { status_ = packed_status_ == Status::damaged ? Status::damaged : Status::end; }

    void fill() {
        Bytes block;
        packed_status_ = packed_->next(block);
        if (packed_status_ != Status::block) return;
        buffers_.in = block.data();
        buffers_.in_left = block.size();
    }

    std::unique_ptr<ByteStream> packed_;
    std::unique_ptr<Decoder> decoder_;
    std::vector<std::byte> block_;
    Buffers buffers_{};
    Status status_ = Status::block, packed_status_ = Status::block;
    bool between_members_ = false;
};

/// `stream` again, and how what it gives is compressed.
std::unique_ptr<ByteStream> looked_at(std::unique_ptr<ByteStream> stream, Compression& compression) {
    Bytes first;
    if (stream->next(first) != ByteStream::Status::block) first = {};
    compression = compression_of(first);
    return std::make_unique<BeginningWith>(first, std::move(stream));
}

}  // namespace

Compression compression_of(Bytes start) {
    const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
    const auto* found = std::find_if(unpacking_magics.begin(), unpacking_magics.end(),
                                     [&](const Magic& magic) { return text.starts_with(magic.start); });
    return found == unpacking_magics.end() ? Compression::none : found->compression;
}

std::unique_ptr<ByteStream> unpack_file(const std::string& path, std::size_t block_bytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    Compression compression = Compression::none;
    auto stream = looked_at(std::make_unique<FileStream>(fd, block_bytes), compression);
    if (compression == Compression::none) return nullptr;
    for (int layer = 0; compression != Compression::none && layer < most_layers; ++layer) {
        auto unpacked =
            std::make_unique<UnpackedStream>(std::move(stream), decoder_of(compression), block_bytes);
        stream = looked_at(std::move(unpacked), compression);
    }
    return stream;
}

std::unique_ptr<ByteStream> unpack_bytes(Bytes packed, std::size_t block_bytes) {
    const Compression compression = compression_of(packed);
    if (compression == Compression::none) return nullptr;
    return std::make_unique<UnpackedStream>(std::make_unique<BeginningWith>(packed, nullptr),
                                            decoder_of(compression), block_bytes);
}

std::unique_ptr<ByteStream> unpack_xz(Bytes packed, std::size_t block_bytes) {
    return compression_of(packed) == Compression::xz ? unpack_bytes(packed, block_bytes) : nullptr;
}

}  // namespace heapsift
