#pragma once

// Files that heapsift keeps for later: whole or absent, this user's own, and told from what they were before
// somebody wrote to them.

#include "parsers/base/descriptor.h"

#include <sys/stat.h>

#include <string>

namespace heapsift {

/// A regular file of this user's that no other may write.
bool is_own_file(const struct stat& file);

/// Changes whenever somebody writes to the file, since no program can set st_ctime, and when the machine
/// starts anew, since a file that was written before may not have come to the disk; "" if unknown.
std::string stamp_of(const struct stat& file);
/// The same of the file at `path`; "" if there is none.
std::string stamp_of(const std::string& path);

/// Makes a folder that only this user may enter, and those above it. Does nothing if it is there.
void make_own_folder(const std::string& path);

/// The name of a file that will be renamed to `path`. Processes of two containers may have the same number.
std::string unfinished_name(const std::string& path);

/// A file that will be at `path`, mode 0600, once it is whole. Until then it has no name, where the file
/// system can do that: nothing is left of a writer that is killed. Elsewhere it has an `unfinished_name`.
class NewFile {
public:
    explicit NewFile(std::string path);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile();

    /// False if the folder cannot be written; `error_number` says why.
    bool is_open() const { return file_.is_open(); }
    int error_number() const { return error_number_; }
    int number() const { return file_.number(); }
    /// Puts it in its place, also of an older file. False on an error, which errno names.
    bool finish();

private:
    std::string path_, unfinished_;
    Descriptor file_;
    bool has_name_ = false;
    int error_number_ = 0;
};

}  // namespace heapsift
