#pragma once

// Writing a large file past the page cache.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heapsift {

/// Writes at any place of a file, and sees to it that at most some 32 MiB of what was written lie in the page cache.
class FileWriter {
public:
    /// `name`: for messages, escaped. `in_order`: of a pipe; what is written continues what was written before, and
    /// nothing is cleared or given back.
    FileWriter(int descriptor, std::string name, bool in_order = false)
        : descriptor_(descriptor), name_(std::move(name)), in_order_(in_order) {}

    /// Throws `Error` (exit 1, "cannot-write").
    void write(std::uint64_t at, std::span<const std::byte> bytes);
    void write(std::uint64_t at, std::string_view text);
    /// Copies within the file, or from another.
    void copy(int from, std::uint64_t from_at, std::uint64_t at, std::uint64_t bytes);
    /// Makes a hole, or zeros where the file system has no holes.
    void clear(std::uint64_t at, std::uint64_t bytes);
    /// What is no longer needed: its whole pages become a hole, where the file system can.
    void give_back(std::uint64_t at, std::uint64_t bytes);
    /// Gives the file its length. All that was written is on its way to the disk, and leaves the page cache.
    void finish(std::uint64_t bytes);

    [[noreturn]] void cannot_write(int reason) const;

private:
    void push(std::uint64_t at, std::uint64_t end);

    int descriptor_;
    std::string name_;
    bool in_order_;
    std::uint64_t window_start_ = 0, window_end_ = 0;  // being filled
    std::uint64_t pushed_start_ = 0, pushed_end_ = 0;  // on its way to the disk
    std::uint64_t in_window_ = 0;
};

}  // namespace heapsift
