#include "parsers/base/cache_file.h"

#include "parsers/base/machine_boot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace heapsift {

bool is_own_file(const struct stat& file) {
    return S_ISREG(file.st_mode) && file.st_uid == geteuid() && (file.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string stamp_of(const struct stat& file) {
    static const std::string boot = machine_boot();
    if (boot.empty()) return "";
    return fmt::format("{} {} {} {} {}.{:09}", boot, file.st_dev, file.st_ino, file.st_size,
                       file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
}

std::string stamp_of(const std::string& path) {
    struct stat file {};
    return ::stat(path.c_str(), &file) == 0 ? stamp_of(file) : "";
}

void make_own_folder(const std::string& path) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) return;
    std::filesystem::create_directories(path, error);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
}

std::string unfinished_name(const std::string& path) {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return fmt::format("{}.{}-{:x}-{:x}.new", path, getpid(), now.tv_sec, now.tv_nsec);
}

NewFile::NewFile(std::string path) : path_(std::move(path)), unfinished_(unfinished_name(path_)) {
    const std::string folder = path_.substr(0, path_.rfind('/') + 1);
    file_ = Descriptor(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    if (file_.is_open()) return;
    file_ = Descriptor(::open(unfinished_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    has_name_ = file_.is_open();
    error_number_ = has_name_ ? 0 : errno;
}

NewFile::~NewFile() {
    if (has_name_) ::unlink(unfinished_.c_str());
}

bool NewFile::finish() {
    if (!has_name_) {
        const std::string self = fmt::format("/proc/self/fd/{}", file_.number());
        // In one step where there is none yet: a signal between the two below would leave the other name behind.
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, unfinished_.c_str(), AT_SYMLINK_FOLLOW) != 0)
            return false;
        has_name_ = true;
    }
    if (::rename(unfinished_.c_str(), path_.c_str()) != 0) return false;
    has_name_ = false;
    return true;
}

}  // namespace heapsift
