#include "cli/report/lines_source.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace heapsift {
namespace {

constexpr std::size_t lines_block = 1 << 20;
constexpr std::size_t telling_bytes = 64 << 10;  // of a file's beginning

bool begins_object(std::string_view line) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    return at != std::string_view::npos && line[at] == '{';
}

}  // namespace

LinesSource::LinesSource(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat facts {};
    const std::string name = escape_for_terminal(path);
    if (!file_.is_open() || ::fstat(file_.number(), &facts) != 0) {
        const int reason = errno;
        throw cannot_analyse(reason == ENOENT ? "no-such-file" : "cannot-read",
                             fmt::format("{}: {}", name, system_reason(reason)));
    }
    if (!S_ISREG(facts.st_mode)) throw cannot_analyse("cannot-read", name + ": is no file");
    std::array<Bytes::value_type, 6> start{};
    const ssize_t got = ::pread(file_.number(), start.data(), start.size(), 0);
    if (got == static_cast<ssize_t>(start.size()) && compression_of(Bytes(start)) != Compression::none)
        stream_ = unpack_file(path, lines_block);
    if (!stream_) size_ = static_cast<std::uint64_t>(facts.st_size);
    while (buffer_.size() < telling_bytes && fill()) {
    }
}

bool LinesSource::fill() {
    if (at_end_) return false;
    if (stream_) {
        Bytes block;
        const ByteStream::Status status = stream_->next(block);
        if (status == ByteStream::Status::block) {
            buffer_.append(reinterpret_cast<const char*>(block.data()), block.size());
            read_ += block.size();
            return true;
        }
        damaged_ = status == ByteStream::Status::damaged;
        at_end_ = true;
        return false;
    }
    const std::size_t before = buffer_.size();
    buffer_.resize(before + lines_block);
    ssize_t got = 0;
    do got = ::read(file_.number(), buffer_.data() + before, lines_block);
    while (got < 0 && errno == EINTR);
    buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    read_ += static_cast<std::uint64_t>(got > 0 ? got : 0);
    damaged_ = got < 0;
    at_end_ = got <= 0;
    return !at_end_;
}

void LinesSource::forget() {
    if (begin_ < lines_block && begin_ < buffer_.size()) return;
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
}

bool LinesSource::holds_lines() const {
    std::string_view rest = std::string_view(buffer_).substr(0, telling_bytes);
    if (rest.starts_with("\x7f"
                         "ELF") ||
        rest.starts_with("SQLite format 3"))
        return false;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        if (begins_object(rest.substr(0, end))) return true;
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return false;
}

LinesSource::Got LinesSource::next(std::string_view& line) {
    bool skipped = false;
    for (forget();;) {
        const std::size_t end = buffer_.find('\n', searched_);
        if (end != std::string::npos) {
            line = std::string_view(buffer_).substr(begin_, end - begin_);
            begin_ = searched_ = end + 1;
            return skipped || line.size() > longest_line ? Got::too_long : Got::line;
        }
        searched_ = buffer_.size();
        if (searched_ - begin_ > longest_line) {
            skipped = true;
            begin_ = searched_;
            forget();
        }
        if (fill()) continue;
        line = std::string_view(buffer_).substr(begin_);
        begin_ = searched_ = buffer_.size();
        if (skipped) return Got::too_long;
        if (!line.empty()) return Got::unended;
        if (!damaged_) return Got::end;
        damaged_ = false;
        return Got::damaged;
    }
}

bool holds_batch_lines(const std::string& path) {
    try {
        return LinesSource(path).holds_lines();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace heapsift
