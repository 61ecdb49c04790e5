#pragma once

// The core in use: the one that a command means if it names none.

#include "parsers/elf/core_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// Tells a file from another one at the same path.
struct FileIdentity {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileIdentity&) const = default;
};

/// Nothing if there is no such file.
std::optional<FileIdentity> identity_of(const std::string& path);

struct CoreInUse {
    std::string path;  // absolute
    FileIdentity identity;
    FileSearch search;  // the options given with it; absolute paths
};

/// Keeps the core in use in two files, one for the terminal session and one for the user; both are written
/// together. A damaged file counts as none, and a file that cannot be written is no error.
class CoreInUseStore {
public:
    /// A store that neither reads nor writes.
    CoreInUseStore() = default;
    /// `directory` is created on the first write (mode 0700, files 0600); `session` may be empty.
    CoreInUseStore(std::string directory, std::string session);
    /// In $XDG_STATE_HOME/heapsift, else ~/.local/state/heapsift; a store that neither reads nor writes if
    /// HEAPSIFT_STATE=off.
    static CoreInUseStore from_environment();

    std::optional<CoreInUse> of_session() const;
    std::optional<CoreInUse> of_user() const;
    /// False if it could not be written.
    bool remember(const CoreInUse& core) const;

private:
    std::string session_file() const;
    std::string user_file() const;

    std::string directory_;  // empty: no store
    std::string session_;
};

/// A name for a terminal session, from the text of /proc/SID/stat: the session leader, its terminal, its
/// start time and the boot of the machine. Process numbers are reused, start times are not. Empty if the text
/// is not understood.
std::string session_name(std::string_view stat, std::string_view boot_id);

/// The text of the file, and its reading; nothing if it is damaged.
std::string written(const CoreInUse& core);
std::optional<CoreInUse> read_core_in_use(std::string_view text);

}  // namespace heapsift
