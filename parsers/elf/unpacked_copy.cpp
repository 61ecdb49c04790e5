#include "parsers/elf/unpacked_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace heapsift {
namespace {

constexpr std::string_view first_line = "heapsift unpacked 1";

/// Whatever tells a compressed file from what it was before; "" if it is not there.
std::string source_of(const std::string& core) {
    struct stat file {};
    if (::stat(core.c_str(), &file) != 0) return "";
    return fmt::format("{} {} {} {}.{:09} {}.{:09}", file.st_dev, file.st_ino, file.st_size,
                       file.st_mtim.tv_sec, file.st_mtim.tv_nsec, file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
}

std::string checked_text(const std::string& source, const std::string& stamp) {
    return fmt::format("{}\n{}\n{}\n", first_line, source, stamp);
}

/// The text of a small file of this user's; "" without one.
std::string text_of(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !is_own_file(status)) return "";
    std::array<char, 1024> text{};
    const ssize_t read = ::read(file.number(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(read > 0 ? read : 0)};
}

bool is_no_room(int error_number) {
    return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

}  // namespace

std::optional<FileMapping> UnpackedCopy::read(const std::string& core) {
    const std::string checked = path_ + checked_ending;
    const std::string source = source_of(core), text = text_of(checked);
    if (source.empty() || text.empty()) return std::nullopt;
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !is_own_file(status)) return std::nullopt;
    const std::string stamp = stamp_of(status);
    if (stamp.empty() || text != checked_text(source, stamp)) return std::nullopt;
    FileMapping mapping = FileMapping::of_descriptor(file.number());
    if (mapping.bytes().size() != static_cast<std::uint64_t>(status.st_size)) return std::nullopt;
    ::utimensat(AT_FDCWD, checked.c_str(), nullptr, 0);  // it was used now: others go first
    state_ = State::found;
    return mapping;
}

void UnpackedCopy::begin(const std::string& core) { source_ = source_of(core); }

void UnpackedCopy::cannot_keep(int error_number) {
    error_number_ = error_number;
    state_ = is_no_room(error_number) ? State::no_room : State::cannot_write;
}

void UnpackedCopy::keep(const std::string& core, NewFile& file) {
    struct stat status {};
    struct statvfs disk {};
    if (::fstat(file.number(), &status) != 0 || ::fstatvfs(file.number(), &disk) != 0)
        return cannot_keep(errno);
    if (source_.empty() || source_of(core) != source_) return;  // it changed meanwhile
    if (static_cast<std::uint64_t>(status.st_blocks) * 512 > limit_ ||
        std::uint64_t{disk.f_bavail} * disk.f_frsize < leave_free_)
        return cannot_keep(ENOSPC);
    if (!file.finish() || ::fstat(file.number(), &status) != 0) return cannot_keep(errno);
    state_ = State::kept;
    const std::string stamp = stamp_of(status), text = checked_text(source_, stamp);
    NewFile checked(path_ + checked_ending);
    if (!stamp.empty() && checked.is_open() &&
        ::write(checked.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
        checked.finish();
}

}  // namespace heapsift
