// Mapping a regular file. The kind is asked before the open (opening some devices acts on them) and again after it, on the
// descriptor, since the path may mean another file by then. O_NONBLOCK keeps the open of a FIFO from waiting for a writer.

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

FileMapping::FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

FileMapping::~FileMapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

FileMapping FileMapping::open(const std::string& path, Status& status) {
    status = {};
    FileMapping mapping;
    struct stat facts {};
    // A NUL inside would name another file than the one that was meant.
    if (path.empty() || path.find('\0') != std::string::npos) {
        status = {Failure::cannot_open, ENOENT};
        return mapping;
    }
    if (::stat(path.c_str(), &facts) != 0) {
        status = {Failure::cannot_open, errno};
        return mapping;
    }
    if (status.failure = kind_failure(facts); status.failure != Failure::none) return mapping;
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
    return mapping;
}

}  // namespace heapsift
