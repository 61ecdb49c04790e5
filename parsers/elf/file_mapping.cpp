// Mapping a regular file. The kind is checked before the open, because opening some devices acts on them, and
// again afterwards on the descriptor, because the path may mean another file by then. O_NONBLOCK keeps the
// open of a FIFO from waiting for a writer.

#include "parsers/elf/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

namespace heapsift {
namespace {

FileMapping::Failure kind_failure(const struct stat& facts) {
    if (S_ISDIR(facts.st_mode)) return FileMapping::Failure::is_directory;
    if (!S_ISREG(facts.st_mode)) return FileMapping::Failure::not_regular;
    return FileMapping::Failure::none;
}

}  // namespace

FileMapping::FileMapping(FileMapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), holes_(std::exchange(other.holes_, {})) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(holes_, other.holes_);
    return *this;
}

FileMapping::~FileMapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

FileMapping FileMapping::open(const std::string& path, Status& status) {
    status = {};
    FileMapping mapping;
    struct stat facts {};
    // A NUL inside would name a file other than the one meant.
    if (path.empty() || path.find('\0') != std::string::npos) {
        status = {Failure::cannot_open, ENOENT};
        return mapping;
    }
    if (::stat(path.c_str(), &facts) != 0) {
        status = {Failure::cannot_open, errno};
        return mapping;
    }
    status.failure = kind_failure(facts);
    if (status.failure == Failure::is_directory && ::access(path.c_str(), R_OK) != 0)
        status = {Failure::cannot_open, errno};
    if (status.failure != Failure::none) return mapping;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        status = {Failure::cannot_open, errno};
        return mapping;
    }
    if (::fstat(fd, &facts) != 0)
        status = {Failure::cannot_open, errno};
    else
        status.failure = kind_failure(facts);
    if (status.failure == Failure::none && facts.st_size > 0) {
        const auto size = static_cast<std::size_t>(facts.st_size);
        void* const where = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (where == MAP_FAILED)
            status = {Failure::cannot_map, errno};
        else
            mapping.bytes_ = {static_cast<const std::byte*>(where), size};
        if (static_cast<std::uint64_t>(facts.st_blocks) * 512 < size) mapping.find_holes(fd);
    }
    ::close(fd);
    return mapping;
}

FileMapping FileMapping::of_descriptor(int fd) {
    FileMapping mapping;
    struct stat facts {};
    if (::fstat(fd, &facts) != 0 || facts.st_size <= 0) return mapping;
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* const where = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (where != MAP_FAILED) mapping.bytes_ = {static_cast<const std::byte*>(where), size};
    mapping.find_holes(fd);
    return mapping;
}

void FileMapping::find_holes(int fd) {
    constexpr std::size_t most = 1'000'000;  // of lookups; a file in more pieces is read whole
    off_t at = 0;
    const auto size = static_cast<off_t>(bytes_.size());
    for (std::size_t look = 0; look < most && at < size; ++look) {
        const off_t hole = ::lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= size) return;
        const off_t data = ::lseek(fd, hole, SEEK_DATA);
        at = data < 0 || data > size ? size : data;  // ENXIO: nothing but a hole up to the end
        if (data < 0 && errno != ENXIO) return;
        holes_.push_back(bytes_.subspan(static_cast<std::size_t>(hole), static_cast<std::size_t>(at - hole)));
    }
}

}  // namespace heapsift
