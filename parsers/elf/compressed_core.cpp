// systemd keeps cores compressed, and so do people who send them. The length is not known before the end
// (zstd frames often carry none), so the stream is unpacked block by block into a sparse file: a core is
// mostly holes and zeros. The file has no name before it is whole, so an interrupted run leaves nothing
// behind; whether it gets one then, for the next command, is decided in unpacked_copy.cpp. Free space is
// checked before every 64 MiB, and a margin is left to others. unpacking.cpp is what unpacks.

#include "parsers/elf/compressed_core.h"

#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/elf/unpacking.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t chunk = 1 << 20;
constexpr std::size_t page = 4096;
constexpr std::uint64_t space_step = 64 << 20;
constexpr std::uint64_t margin = 256 << 20;
constexpr std::uint64_t most_core_bytes = std::uint64_t{1} << 62;  // a file's size has a sign

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
    return data[0] == std::byte{0} && std::memcmp(data, data + 1, size - 1) == 0;
}

bool write_all(int fd, const std::byte* data, std::size_t size, std::uint64_t at) {
    while (size > 0) {
        const ssize_t done = ::pwrite(fd, data, size, static_cast<off_t>(at));
        if (done <= 0) return false;
        data += done;
        size -= static_cast<std::size_t>(done);
        at += static_cast<std::uint64_t>(done);
    }
    return true;
}

/// Writes what lies between pages of zeros; these stay holes. False if the disk refuses.
bool write_sparse(int fd, const std::byte* data, std::size_t size, std::uint64_t at) {
    std::size_t begin = 0;  // of what is to be written
    for (std::size_t done = 0; done < size;) {
        const std::size_t part = std::min(page, size - done);
        if (all_zero(data + done, part)) {
            if (!write_all(fd, data + begin, done - begin, at + begin)) return false;
            begin = done + part;
        }
        done += part;
    }
    return write_all(fd, data + begin, size - begin, at + begin);
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

struct Unpacked {
    enum class End { whole, cut, nearly_full, not_written };
    End end = End::whole;
    std::uint64_t bytes = 0;
};

/// Unpacks `path` into the empty file `out`.
Unpacked unpack_into(int out, const std::string& path, Diagnostics& diagnostics) {
    const std::string name = escape_for_terminal(path);
    const auto in = unpack_file(path, chunk);
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
        if (const std::uint64_t zeros = in->take_zeros(); zeros > 0) {
            if (zeros > most_core_bytes - result.bytes) throw does_not_unpack(name);
            result.bytes += zeros;
            continue;
        }
        Bytes block;
        const ByteStream::Status status = in->next(block);
        if (status == ByteStream::Status::end) break;
        if (status == ByteStream::Status::damaged) {
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

bool is_compressed(Bytes file) { return compression_of(file) != Compression::none; }

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
