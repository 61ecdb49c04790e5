// What a program writes stays in the page cache, and counts as memory of its control group: a core of 4 GiB written
// beside a process near its limit would push it over. So what was written is sent to the disk in windows of 16 MiB,
// and while one is filled the one before is waited for and dropped (sync_file_range, then POSIX_FADV_DONTNEED, which
// drops clean pages only). O_DIRECT would do the same, but not every file system has it, and none takes what is not
// aligned.

#include "parsers/capture/drop_behind.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace heapsift {
namespace {

constexpr std::uint64_t window_bytes = 16 << 20;

}  // namespace

void FileWriter::cannot_write(int reason) const {
    throw cannot_analyse(
        "cannot-write", fmt::format("{}: cannot be written: {}", name_, system_reason(reason)),
        reason == ENOSPC ? "name a file on a disk with more room, or compress it: -o FILE.zst" : "");
}

void FileWriter::push(std::uint64_t at, std::uint64_t end) {
    const bool apart = in_window_ > 0 && (at < window_start_ || at > window_end_ + window_bytes);
    if (in_window_ == 0 || apart) {
        if (apart) {
            ::sync_file_range(descriptor_, static_cast<off_t>(window_start_),
                              static_cast<off_t>(window_end_ - window_start_), SYNC_FILE_RANGE_WRITE);
            ::posix_fadvise(descriptor_, static_cast<off_t>(window_start_),
                            static_cast<off_t>(window_end_ - window_start_), POSIX_FADV_DONTNEED);
            in_window_ = 0;
        }
        window_start_ = at;
        window_end_ = end;
    }
    window_end_ = std::max(window_end_, end);
    in_window_ += end - at;
    if (in_window_ < window_bytes) return;
    const auto size = [](std::uint64_t from, std::uint64_t to) { return static_cast<off_t>(to - from); };
    ::sync_file_range(descriptor_, static_cast<off_t>(window_start_), size(window_start_, window_end_),
                      SYNC_FILE_RANGE_WRITE);
    if (pushed_end_ > pushed_start_) {
        ::sync_file_range(descriptor_, static_cast<off_t>(pushed_start_), size(pushed_start_, pushed_end_),
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        ::posix_fadvise(descriptor_, static_cast<off_t>(pushed_start_), size(pushed_start_, pushed_end_),
                        POSIX_FADV_DONTNEED);
    }
    pushed_start_ = window_start_;
    pushed_end_ = window_end_;
    in_window_ = 0;
}

void FileWriter::write(std::uint64_t at, std::span<const std::byte> bytes) {
    const std::uint64_t start = at;
    while (!bytes.empty()) {
        const ssize_t written =
            in_order_ ? ::write(descriptor_, bytes.data(), bytes.size())
                      : ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN && in_order_) {  // a pipe of somebody who does not wait
            pollfd room{descriptor_, POLLOUT, 0};
            ::poll(&room, 1, -1);
            continue;
        }
        if (written < 0) cannot_write(errno);
        if (written == 0) cannot_write(ENOSPC);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
    if (!in_order_) push(start, at);
}

void FileWriter::write(std::uint64_t at, std::string_view text) {
    write(at, std::span(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

void FileWriter::copy(int from, std::uint64_t from_at, std::uint64_t at, std::uint64_t bytes) {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes, 1 << 20));
    while (bytes > 0) {
        const std::size_t part = std::min<std::uint64_t>(buffer.size(), bytes);
        const ssize_t got = ::pread(from, buffer.data(), part, static_cast<off_t>(from_at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) cannot_write(got < 0 ? errno : EIO);
        write(at, std::span(buffer.data(), static_cast<std::size_t>(got)));
        ::posix_fadvise(from, static_cast<off_t>(from_at), got, POSIX_FADV_DONTNEED);
        from_at += static_cast<std::uint64_t>(got);
        at += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::uint64_t>(got);
    }
}

void FileWriter::clear(std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 0) return;
    if (::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                    static_cast<off_t>(bytes)) == 0)
        return;
    static constexpr std::byte zeros[4096]{};
    for (std::uint64_t done = 0; done < bytes; done += sizeof zeros)
        write(at + done, std::span(zeros, std::min<std::uint64_t>(sizeof zeros, bytes - done)));
}

void FileWriter::give_back(std::uint64_t at, std::uint64_t bytes) {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t from = (at + page - 1) / page * page, to = (at + bytes) / page * page;
    if (from < to)
        ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                    static_cast<off_t>(to - from));
}

void FileWriter::finish(std::uint64_t bytes) {
    if (in_order_) return;
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) cannot_write(errno);
    // Waits for the disk too: a failure is noticed while the file can still be taken back.
    if (::fdatasync(descriptor_) != 0) cannot_write(errno);
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace heapsift
