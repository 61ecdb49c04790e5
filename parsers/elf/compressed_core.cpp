// systemd keeps cores compressed, and so do people who send them. The length is not known before the end (zstd frames often carry
// none), so the stream goes block by block into a sparse file that has no name from its first byte on: a core is mostly holes and
// zeros, and an interrupted run leaves nothing behind. Free space is asked again before every 64 MiB, and a margin is left to
// others.

#include "parsers/elf/compressed_core.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::array magics = {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "\xfd\x37\x7a\x58\x5a\x00"sv, "\x04\x22\x4d\x18"sv};
constexpr std::size_t chunk = 1 << 20;
constexpr std::size_t page = 4096;
constexpr std::uint64_t space_step = 64 << 20;
constexpr std::uint64_t margin = 256 << 20;

struct CloseArchive {
    void operator()(archive* a) const { archive_read_free(a); }
};

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    int fd;
};

std::string cache_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    std::string folder = cache && *cache == '/' ? cache : home && *home == '/' ? std::string(home) + "/.cache" : "/tmp";
    ::mkdir(folder.c_str(), 0700);
    folder += "/heapsift";
    ::mkdir(folder.c_str(), 0700);
    return folder;
}

int nameless_file(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = folder + "/unpacked.XXXXXX";  // a file system without O_TMPFILE
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(name.c_str());
    return named;
}

bool all_zero(const std::byte* data, std::size_t size) {
    return std::all_of(data, data + size, [](std::byte b) { return b == std::byte{0}; });
}

/// Writes what is not zero, page by page; the rest stays a hole. False where the disk refuses.
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
    return ::fstatvfs(fd, &facts) != 0 || std::uint64_t{facts.f_bavail} * facts.f_frsize >= space_step + margin;
}

}  // namespace

bool is_compressed(Bytes file) {
    const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 8));
    return std::any_of(magics.begin(), magics.end(), [&](std::string_view magic) { return start.starts_with(magic); });
}

FileMapping unpack_core(const std::string& path, Diagnostics& diagnostics) {
    const std::string name = escape_for_terminal(path);
    const std::string folder = cache_folder();
    const Descriptor out(nameless_file(folder));
    if (out.fd < 0)
        throw cannot_analyse(
            "cannot-unpack",
            fmt::format("{} is compressed, and {} cannot be written to unpack it", name, escape_for_terminal(folder)),
            "set XDG_CACHE_HOME to a folder with room for it");
    const std::unique_ptr<archive, CloseArchive> in(archive_read_new());
    archive_read_support_filter_gzip(in.get());
    archive_read_support_filter_xz(in.get());
    archive_read_support_filter_zstd(in.get());
    archive_read_support_filter_lz4(in.get());
    archive_read_support_format_raw(in.get());
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(in.get(), path.c_str(), chunk) != ARCHIVE_OK ||
        archive_read_next_header(in.get(), &entry) != ARCHIVE_OK || archive_filter_code(in.get(), 0) == ARCHIVE_FILTER_NONE)
        throw cannot_analyse("cannot-unpack", fmt::format("{} begins as a compressed file, and does not unpack", name),
                             "was it cut, or copied as text?");
    std::uint64_t size = 0;
    std::uint64_t checked = 0;
    for (;;) {
        if (size >= checked) {
            if (!has_space(out.fd))
                throw cannot_analyse(
                    "no-space",
                    fmt::format(
                        "{} is compressed, and {} has no room for it: {} MiB were unpacked before the disk was nearly full", name,
                        escape_for_terminal(folder), size >> 20),
                    "set XDG_CACHE_HOME to a folder with more room");
            checked = size + space_step;
        }
        // Block by block as the decompressor makes them: where the stream ends early, what came before is not lost with it.
        const void* block = nullptr;
        std::size_t got = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(in.get(), &block, &got, &offset);
        if (status == ARCHIVE_EOF) break;
        if (status < ARCHIVE_WARN) {
            if (size == 0)
                throw cannot_analyse("cannot-unpack", fmt::format("{} begins as a compressed file, and does not unpack", name),
                                     "was it cut, or copied as text?");
            diagnostics.add("stream-cut",
                            fmt::format("{}: the compressed file is damaged or ends early; {} MiB of the core could be unpacked",
                                        name, size >> 20),
                            Severity::damage);
            break;
        }
        if (!write_sparse(out.fd, static_cast<const std::byte*>(block), got, size))
            throw cannot_analyse("no-space",
                                 fmt::format("{} is compressed, and {} could not be written after {} MiB", name,
                                             escape_for_terminal(folder), size >> 20),
                                 "set XDG_CACHE_HOME to a folder with more room");
        size += got;
    }
    if (::ftruncate(out.fd, static_cast<off_t>(size)) != 0)
        throw cannot_analyse("cannot-unpack", fmt::format("{} could not be unpacked", name));
    return FileMapping::of_descriptor(out.fd);
}

}  // namespace heapsift
