// Half an output file looks like a whole one, and a script that finds it takes it. So the bytes go to another
// name in the same directory, and rename(2) puts the file in place, at once or not at all. Without -f the
// rename refuses to replace a file that has appeared meanwhile (renameat2; if a file system lacks it, link(2)
// refuses as well). A signal handler may not allocate, so the name of the unfinished file is in a fixed
// buffer.
//
// SIGKILL has no handler. A core of some GiB must not stay behind then, so it has no name at first (O_TMPFILE: ext4,
// xfs, btrfs, tmpfs, overlayfs of newer kernels; not NFS) and is linked into place when it is whole. link(2) replaces
// nothing: over a file that is there it goes by a second name and rename(2), and only between these two calls would
// SIGKILL leave that name, of a whole file.

#include "cli/output_file.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

std::array<char, PATH_MAX> unfinished_path;
std::atomic<bool> unfinished = false;

void remember_unfinished(const std::string& path) {
    if (path.size() >= unfinished_path.size()) return;
    std::copy_n(path.c_str(), path.size() + 1, unfinished_path.begin());
    unfinished = true;
}

bool same_file(const struct stat& file, const std::string& path) {
    struct stat other {};
    return !path.empty() && ::stat(path.c_str(), &other) == 0 && other.st_dev == file.st_dev &&
           other.st_ino == file.st_ino;
}

// Where a symbolic link leads; the path itself if it is no link, or leads nowhere.
std::string resolved(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real ? real.get() : path;
}

Error output_exists(const std::string& name) {
    return wrong_usage("output-exists", name + " exists", "-f overwrites it");
}

/// With the slash at its end.
std::string output_folder(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// The hidden name of a file that is not whole, for mkostemp.
std::string beside(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    constexpr std::size_t longest_base = 200;  // bytes; with what is added a file name has at most 255
    return path.substr(0, base) + "." + path.substr(base, longest_base) + ".XXXXXX";
}

/// `template_path` with its last six characters made up.
std::string with_made_up_end(std::string template_path) {
    std::random_device random;
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (std::size_t i = template_path.size() - 6; i < template_path.size(); ++i)
        template_path[i] = letters[random() % letters.size()];
    return template_path;
}

// False if the file system does not support it.
bool rename_without_replacing(const std::string& from, const std::string& to, int& result) {
    result = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
    return result == 0 || (errno != EINVAL && errno != ENOSYS);
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const Rules& rules)
    : name_(escape_for_terminal(path)), place_(resolved(path)), overwrite_(rules.overwrite) {
    struct stat facts {};
    const bool exists = ::stat(place_.c_str(), &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode))
        throw wrong_usage("is-a-directory", name_ + " is a directory", "name a file in it");
    if (exists && same_file(facts, rules.protected_path))
        throw wrong_usage("output-is-core", name_ + " is the core itself", "name another file");
    if (exists && !S_ISREG(facts.st_mode)) {
        const bool pipe = S_ISFIFO(facts.st_mode);
        if (rules.seekable)
            throw wrong_usage("not-a-file",
                              fmt::format("{} is {}", name_, pipe ? "a pipe" : "not a regular file"),
                              pipe && !rules.for_a_pipe.empty() ? rules.for_a_pipe : "name a file");
        descriptor_ = ::open(place_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        struct stat link {};
        if (!overwrite_ && (exists || ::lstat(place_.c_str(), &link) == 0)) throw output_exists(name_);
        if (rules.nameless) {
            descriptor_ = ::open(output_folder(place_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
            nameless_ = descriptor_ >= 0;
        }
        if (!nameless_) {
            temporary_ = beside(place_);
            descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);  // mode 0600
        }
    }
    if (descriptor_ < 0) {
        const int reason = errno;
        temporary_.clear();
        throw wrong_usage("cannot-create",
                          fmt::format("{}: cannot be created: {}", name_, system_reason(reason)),
                          reason == ENOENT || reason == EACCES || reason == EROFS
                              ? "name a file in a folder that is there and yours"
                              : "");
    }
    if (!temporary_.empty()) remember_unfinished(temporary_);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (temporary_.empty()) return;
    ::unlink(temporary_.c_str());
    unfinished = false;
}

void OutputFile::throw_cannot_write(int reason) const {
    throw cannot_analyse("cannot-write",
                         fmt::format("{}: cannot be written: {}", name_, system_reason(reason)));
}

void OutputFile::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes) flush();
}

void OutputFile::flush() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_cannot_write(errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

/// Links what has no name to `place_`; over a file that is there, at once or not at all.
void OutputFile::give_name() {
    const std::string source = fmt::format("/proc/self/fd/{}", descriptor_);
    const auto link_to = [&](const std::string& path) {
        return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
    };
    int result = link_to(place_);
    for (int tries = 0; result != 0 && errno == EEXIST && overwrite_ && tries < 100; ++tries) {
        temporary_ = with_made_up_end(beside(place_));
        remember_unfinished(temporary_);
        result = link_to(temporary_);
        if (result == 0) {
            result = ::rename(temporary_.c_str(), place_.c_str());
            if (result != 0) throw_cannot_write(errno);  // the destructor removes that name
            break;
        }
        const int reason = errno;
        temporary_.clear();  // that name is another's
        unfinished = false;
        errno = reason;
    }
    if (result != 0 && errno == EEXIST && !overwrite_) throw output_exists(name_);
    if (result != 0) throw_cannot_write(errno);
    temporary_.clear();
    unfinished = false;
    nameless_ = false;
}

void OutputFile::commit() {
    flush();
    if (nameless_) give_name();
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0 && errno != EINTR) throw_cannot_write(errno);
    if (temporary_.empty()) return;
    int result = 0;
    if (overwrite_) {
        result = ::rename(temporary_.c_str(), place_.c_str());
    } else if (!rename_without_replacing(temporary_, place_, result)) {
        result = ::link(temporary_.c_str(), place_.c_str());
        if (result == 0) ::unlink(temporary_.c_str());
    }
    if (result != 0 && errno == EEXIST) throw output_exists(name_);
    if (result != 0) throw_cannot_write(errno);
    temporary_.clear();
    unfinished = false;
}

void remove_unfinished_files() {
    if (unfinished) ::unlink(unfinished_path.data());
}

}  // namespace heapsift
