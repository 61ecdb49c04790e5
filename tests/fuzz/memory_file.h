#pragma once

// A file in memory, for readers that take a path. It stays open and is rewritten for each input: opening,
// mapping and closing a new one would cost some microseconds.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace heapsift::test {

class MemoryFile {
public:
    MemoryFile()
        : fd_(::memfd_create("heapsift-fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
        if (fd_ < 0) std::abort();
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(fd_); }

    const std::string& path() const { return path_; }
    void write(const void* bytes, std::size_t size) {
        resize(size);
        write_at(0, bytes, size);
    }
    void write_at(std::uint64_t at, const void* bytes, std::size_t size) {
        if (::pwrite(fd_, bytes, size, static_cast<off_t>(at)) != static_cast<ssize_t>(size)) std::abort();
    }
    void resize(std::uint64_t size) {
        if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) std::abort();
    }

private:
    int fd_;
    std::string path_;
};

}  // namespace heapsift::test
