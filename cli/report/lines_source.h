#pragma once

// The lines of a file, one after the other, whatever its size: of a batch's output, plain or compressed.

#include "parsers/base/descriptor.h"
#include "parsers/elf/unpacking.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heapsift {

/// Memory: the longest line, at most `longest_line`, and two blocks of 1 MiB.
class LinesSource {
public:
    static constexpr std::size_t longest_line = 16 << 20;  // bytes; one with an overview has some thousand

    /// Opens a regular file, and reads its beginning. Throws `Error` (exit 1): "no-such-file", "cannot-read".
    explicit LinesSource(const std::string& path);

    /// Told by its content: no core and no database, and a line of the first 64 KiB begins an object of JSON.
    bool holds_lines() const;

    enum class Got {
        line,
        unended,   // what follows the last end of a line
        too_long,  // it was skipped
        damaged,   // a compressed file that is cut or damaged: nothing follows
        end
    };
    /// `line` without its end; valid until the next call.
    Got next(std::string_view& line);

    std::uint64_t read_bytes() const { return read_; }  // of what it unpacks to
    std::uint64_t file_bytes() const { return size_; }  // 0 if it is compressed
    const std::string& path() const { return path_; }

private:
    bool fill();
    void forget();

    std::string path_;
    Descriptor file_;
    std::unique_ptr<ByteStream> stream_;
    std::string buffer_;
    std::size_t begin_ = 0, searched_ = 0;
    std::uint64_t read_ = 0, size_ = 0;
    bool at_end_ = false, damaged_ = false;
};

/// Whether `path` is a regular file with such lines. Never throws; false if it cannot be read.
bool holds_batch_lines(const std::string& path);

}  // namespace heapsift
