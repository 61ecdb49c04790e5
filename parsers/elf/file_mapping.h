#pragma once

// A file on this machine, mapped read-only. Only regular files: a path from a core may name a FIFO or a
// device, where opening or reading could block for ever or have an effect.

#include "parsers/elf/bytes.h"

#include <string>
#include <vector>

namespace heapsift {

class FileMapping {
public:
    enum class Failure { none, cannot_open, is_directory, not_regular, cannot_map };
    /// Why `open` gave nothing. `error_number` is the errno, for cannot_open and cannot_map.
    struct Status {
        Failure failure = Failure::none;
        int error_number = 0;
    };

    FileMapping() = default;
    FileMapping(FileMapping&& other) noexcept;
    FileMapping& operator=(FileMapping&& other) noexcept;
    FileMapping(const FileMapping&) = delete;
    FileMapping& operator=(const FileMapping&) = delete;
    ~FileMapping();

    /// Opens and maps `path` with the size that it has at that moment. An empty file gives no bytes and no
    /// failure. A folder that may not be listed cannot be opened. Never blocks on a FIFO. Cost: no page is read.
    static FileMapping open(const std::string& path, Status& status);

    /// Maps an open file; the descriptor may be closed afterwards. No bytes if the file is empty or cannot be
    /// mapped.
    static FileMapping of_descriptor(int fd);

    Bytes bytes() const { return bytes_; }

    /// The parts of `bytes()` that, according to the file system, were never written, in order: all zero.
    const std::vector<Bytes>& holes() const { return holes_; }

private:
    void find_holes(int fd);

    Bytes bytes_;
    std::vector<Bytes> holes_;
};

}  // namespace heapsift
