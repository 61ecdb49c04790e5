// systemd keeps cores compressed, and so do people who send them. The length is not known before the end
// (zstd frames often carry none), so the stream is unpacked block by block into a sparse file: a core is
// mostly holes and zeros. The file has no name before it is whole, so an interrupted run leaves nothing
// behind; whether it gets one then, for the next command, is decided in unpacked_copy.cpp. Free space is
// checked before every 64 MiB, and a margin is left to others. libarchive unpacks everything but gzip, whose
// checksums it does not check; zlib does.

#include "parsers/elf/compressed_core.h"

#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/elf/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::array magics = {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "\xfd\x37\x7a\x58\x5a\x00"sv,
                               "\x04\x22\x4d\x18"sv};
constexpr std::size_t chunk = 1 << 20;
constexpr std::size_t page = 4096;
constexpr std::uint64_t space_step = 64 << 20;
constexpr std::uint64_t margin = 256 << 20;

/// A compressed file, in blocks as the decompressor makes them. Where the stream ends early, what came before
/// is not lost.
class Unpacker {
public:
    enum class Status { block, end, damaged };
    virtual ~Unpacker() = default;
    /// After `block`, `bytes` is valid until the next call.
    virtual Status next(std::span<const std::byte>& bytes) = 0;
};

class ArchiveUnpacker : public Unpacker {
public:
    /// Null if the file does not open as a compressed one.
    static std::unique_ptr<Unpacker> open(const std::string& path) {
        auto unpacker = std::make_unique<ArchiveUnpacker>();
        archive* in = unpacker->in_.get();
        archive_read_support_filter_gzip(in);
        archive_read_support_filter_xz(in);
        archive_read_support_filter_zstd(in);
        archive_read_support_filter_lz4(in);
        archive_read_support_format_raw(in);
        archive_entry* entry = nullptr;
        if (archive_read_open_filename(in, path.c_str(), chunk) != ARCHIVE_OK ||
            archive_read_next_header(in, &entry) != ARCHIVE_OK ||
            archive_filter_code(in, 0) == ARCHIVE_FILTER_NONE)
            return nullptr;
        return unpacker;
    }
    Status next(std::span<const std::byte>& bytes) override {
        const void* block = nullptr;
        std::size_t got = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(in_.get(), &block, &got, &offset);
        if (status == ARCHIVE_EOF) return Status::end;
        if (status < ARCHIVE_WARN) return Status::damaged;
        bytes = {static_cast<const std::byte*>(block), got};
        return Status::block;
    }

private:
    ArchiveReader in_{archive_read_new()};
};

/// gzip members one after the other, by zlib's inflate. (gzread does not report every stream that ends within
/// its checksum.)
class GzipUnpacker : public Unpacker {
public:
    /// Null if `path` cannot be read or is not gzip.
    static std::unique_ptr<GzipUnpacker> open(const std::string& path) {
        auto unpacker = std::make_unique<GzipUnpacker>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        return unpacker->fill() && unpacker->at_member() ? std::move(unpacker) : nullptr;
    }
    explicit GzipUnpacker(int fd) : in_(fd) { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
    ~GzipUnpacker() override { inflateEnd(&stream_); }

    Status next(std::span<const std::byte>& bytes) override {
        stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
        stream_.avail_out = static_cast<uInt>(output_.size());
        while (state_ == Status::block && stream_.avail_out > 0) step();
        const std::size_t got = output_.size() - stream_.avail_out;
        if (got == 0) return state_;
        bytes = {output_.data(), got};
        return Status::block;
    }

private:
    void step() {
        const bool more = stream_.avail_in > 0 || fill();
        if (between_members_) {  // what follows is padding if it is not a member
            state_ = more && at_member() ? Status::block : Status::end;
            between_members_ = false;
            if (state_ == Status::block) inflateReset(&stream_);
            return;
        }
        const int result = more && ready_ ? inflate(&stream_, Z_NO_FLUSH) : Z_BUF_ERROR;
        if (result == Z_STREAM_END)
            between_members_ = true;
        else if (result != Z_OK)
            state_ = Status::damaged;
    }

    bool fill() {
        const ssize_t got = ::read(in_.number(), input_.data(), input_.size());
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = got > 0 ? static_cast<uInt>(got) : 0;
        return got > 0;
    }

    bool at_member() const {
        return stream_.next_in[0] == 0x1f && (stream_.avail_in < 2 || stream_.next_in[1] == 0x8b);
    }

    Descriptor in_;
    z_stream stream_{};
    bool ready_ = false;
    bool between_members_ = false;
    Status state_ = Status::block;
    std::vector<std::byte> input_ = std::vector<std::byte>(chunk), output_ = std::vector<std::byte>(chunk);
};

std::string cache_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    std::string folder = cache && *cache == '/' ? cache
                         : home && *home == '/' ? std::string(home) + "/.cache"
                                                : "/tmp";
    ::mkdir(folder.c_str(), 0700);
    folder += "/heapsift";
    ::mkdir(folder.c_str(), 0700);
    return folder;
}

int nameless_file(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = folder + "/unpacked.XXXXXX";  // for file systems without O_TMPFILE
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

bool all_zero(const std::byte* data, std::size_t size) {
    return std::all_of(data, data + size, [](std::byte b) { return b == std::byte{0}; });
}

/// Writes the pages that are not zero; the rest stay holes. False if the disk refuses.
bool write_sparse(int fd, const std::byte* data, std::size_t size, std::uint64_t at) {
    for (std::size_t done = 0; done < size;) {
        const std::size_t part = std::min(page, size - done);
        if (!all_zero(data + done, part) &&
            ::pwrite(fd, data + done, part, static_cast<off_t>(at + done)) != static_cast<ssize_t>(part))
            return false;
        done += part;
    }
    return true;
}

bool has_space(int fd) {
    struct statvfs facts {};
    return ::fstatvfs(fd, &facts) != 0 ||
           std::uint64_t{facts.f_bavail} * facts.f_frsize >= space_step + margin;
}

Error does_not_unpack(const std::string& name) {
    return cannot_analyse("cannot-unpack",
                          fmt::format("{} begins as a compressed file, and does not unpack", name),
                          "was it cut, or copied as text?");
}

/// libarchive takes what is not gzip, and what was compressed before gzip was applied.
std::unique_ptr<Unpacker> open_compressed(const std::string& path) {
    if (const auto gzip = GzipUnpacker::open(path)) {
        std::span<const std::byte> block;
        if (gzip->next(block) != Unpacker::Status::block || !is_compressed(block))
            return GzipUnpacker::open(path);
    }
    return ArchiveUnpacker::open(path);
}

struct Unpacked {
    enum class End { whole, cut, nearly_full, not_written };
    End end = End::whole;
    std::uint64_t bytes = 0;
};

/// Unpacks `path` into the empty file `out`.
Unpacked unpack_into(int out, const std::string& path, Diagnostics& diagnostics) {
    const std::string name = escape_for_terminal(path);
    const auto in = open_compressed(path);
    if (!in) throw does_not_unpack(name);
    Unpacked result;
    std::uint64_t checked = 0;
    for (;;) {
        if (result.bytes >= checked) {
            if (!has_space(out)) {
                result.end = Unpacked::End::nearly_full;
                return result;
            }
            checked = result.bytes + space_step;
        }
        std::span<const std::byte> block;
        const Unpacker::Status status = in->next(block);
        if (status == Unpacker::Status::end) break;
        if (status == Unpacker::Status::damaged) {
            if (result.bytes == 0) throw does_not_unpack(name);
            diagnostics.add(
                "stream-cut",
                fmt::format(
                    "{}: the compressed file is damaged or ends early; {} MiB of the core could be unpacked",
                    name, result.bytes >> 20),
                Severity::damage);
            result.end = Unpacked::End::cut;
            break;
        }
        if (!write_sparse(out, block.data(), block.size(), result.bytes)) {
            result.end = Unpacked::End::not_written;
            return result;
        }
        result.bytes += block.size();
    }
    if (::ftruncate(out, static_cast<off_t>(result.bytes)) != 0)
        throw cannot_analyse("cannot-unpack", fmt::format("{} could not be unpacked", name));
    return result;
}

/// Nothing if there is no room where copies are kept, or no writing: it may be otherwise in the folder for
/// what is not kept.
std::optional<FileMapping> unpacked_to_keep(const std::string& path, Diagnostics& diagnostics,
                                            UnpackedCopy& copy) {
    copy.begin(path);
    make_own_folder(copy.path().substr(0, copy.path().rfind('/')));
    NewFile file(copy.path());
    if (!file.is_open()) {
        copy.cannot_keep(file.error_number());
        return std::nullopt;
    }
    const Unpacked result = unpack_into(file.number(), path, diagnostics);
    if (result.end == Unpacked::End::nearly_full || result.end == Unpacked::End::not_written) {
        copy.cannot_keep(ENOSPC);
        return std::nullopt;
    }
    FileMapping mapping = FileMapping::of_descriptor(file.number());
    const std::string_view start(reinterpret_cast<const char*>(mapping.bytes().data()),
                                 std::min<std::size_t>(mapping.bytes().size(), 4));
    if (result.end == Unpacked::End::whole && start ==
                                                  "\x7f"
                                                  "ELF"sv)
        copy.keep(path, file);
    return mapping;
}

}  // namespace

bool is_compressed(Bytes file) {
    const std::string_view start(reinterpret_cast<const char*>(file.data()),
                                 std::min<std::size_t>(file.size(), 8));
    return std::any_of(magics.begin(), magics.end(),
                       [&](std::string_view magic) { return start.starts_with(magic); });
}

FileMapping unpack_core(const std::string& path, Diagnostics& diagnostics, UnpackedCopy* copy) {
    if (copy) {
        if (auto there = copy->read(path)) return std::move(*there);
        if (auto now = unpacked_to_keep(path, diagnostics, *copy)) return std::move(*now);
    }
    const std::string name = escape_for_terminal(path), folder = cache_folder();
    const Descriptor out(nameless_file(folder));
    if (!out.is_open())
        throw cannot_analyse("cannot-unpack",
                             fmt::format("{} is compressed, and {} cannot be written to unpack it", name,
                                         escape_for_terminal(folder)),
                             "set XDG_CACHE_HOME to a folder with room for it");
    const Unpacked result = unpack_into(out.number(), path, diagnostics);
    if (result.end == Unpacked::End::nearly_full)
        throw cannot_analyse("no-space",
                             fmt::format("{} is compressed, and {} has no room for it: {} MiB were "
                                         "unpacked before the disk was nearly full",
                                         name, escape_for_terminal(folder), result.bytes >> 20),
                             "set XDG_CACHE_HOME to a folder with more room");
    if (result.end == Unpacked::End::not_written)
        throw cannot_analyse("no-space",
                             fmt::format("{} is compressed, and {} could not be written after {} MiB", name,
                                         escape_for_terminal(folder), result.bytes >> 20),
                             "set XDG_CACHE_HOME to a folder with more room");
    return FileMapping::of_descriptor(out.number());
}

}  // namespace heapsift
