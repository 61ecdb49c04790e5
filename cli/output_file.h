#pragma once

// The file of -o: whole or absent.

#include <string>
#include <string_view>

namespace heapsift {

/// A file that is written beside its final place, mode 0600, under a temporary name, and is renamed when
/// whole. Until `commit` the destructor removes it; so do SIGINT, SIGTERM and SIGHUP
/// (`remove_unfinished_files`). A `nameless` one has no name until it is whole, so that not even SIGKILL leaves
/// something. If the name belongs to a pipe or a device, that is written to directly.
class OutputFile {
public:
    /// Throws `Error` (exit 2): "output-exists" (without `overwrite`); "is-a-directory"; "output-is-core" if
    /// `path` is the file `protected_path`, by whatever name; "not-a-file" if `seekable` and it is no regular
    /// file; else "cannot-create".
    struct Rules {
        bool overwrite = false;
        bool seekable = false;
        bool nameless = false;            // where the file system can; for those who write by `descriptor`
        std::string protected_path = {};  // the core
        std::string for_a_pipe = {};      // the hint of "not-a-file" if it is a pipe; "": to name a file
    };
    OutputFile(const std::string& path, const Rules& rules);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// As given; for messages.
    const std::string& name() const { return name_; }
    /// The path being written, for code that opens it by name; empty if it has none.
    const std::string& temporary_path() const { return temporary_; }
    /// Open for reading and writing, but for a pipe or a device, until `commit`.
    int descriptor() const { return descriptor_; }

    /// Buffered. Throws `Error` (exit 1, "cannot-write") if the disk is full.
    void write(std::string_view text);
    /// Writes what is left and gives the file its name. Throws "cannot-write", or "output-exists" if the name
    /// has been taken meanwhile.
    void commit();

private:
    void flush();
    void give_name();
    [[noreturn]] void throw_cannot_write(int reason) const;

    std::string name_;       // as given
    std::string place_;      // symbolic links resolved
    std::string temporary_;  // empty: written to directly, or it has no name yet
    bool overwrite_;
    bool nameless_ = false;  // until it is whole
    int descriptor_ = -1;
    std::string buffer_;
};

/// For signal handlers.
void remove_unfinished_files();

}  // namespace heapsift
