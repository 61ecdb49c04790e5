#pragma once

// The core in use: what the next command means that names none.

#include "parsers/elf/core_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// What tells a file from another one at the same path.
struct FileIdentity {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileIdentity&) const = default;
};

/// Nothing where there is no such file.
std::optional<FileIdentity> identity_of(const std::string& path);

struct CoreInUse {
    std::string path;  // absolute
    FileIdentity identity;
    FileSearch search;  // as given with it; absolute
};

/// Where the core in use is kept: a file for the terminal session and one for the user, both written at once.
/// A damaged file is as good as none, and one that cannot be written is no reason to fail.
class CoreInUseStore {
public:
    /// Neither reads nor writes.
    CoreInUseStore() = default;
    /// `directory` is made when it is first written to (mode 0700, files 0600); `session` may be empty.
    CoreInUseStore(std::string directory, std::string session);
    /// $XDG_STATE_HOME/heapsift, else ~/.local/state/heapsift; neither reads nor writes where
    /// HEAPSIFT_STATE=off.
    static CoreInUseStore from_environment();

    std::optional<CoreInUse> of_session() const;
    std::optional<CoreInUse> of_user() const;
    /// False where it could not be written.
    bool remember(const CoreInUse& core) const;

private:
    std::string session_file() const;
    std::string user_file() const;

    std::string directory_;  // empty: off
    std::string session_;
};

/// The name of a terminal session, from the text of /proc/SID/stat: session leader, its terminal, its start
/// time, and the machine's boot; numbers are used again, a start time is not. Empty where the text is not
/// understood.
std::string session_name(std::string_view stat, std::string_view boot_id);

/// The file's text, and back; nothing where it is damaged.
std::string written(const CoreInUse& core);
std::optional<CoreInUse> read_core_in_use(std::string_view text);

}  // namespace heapsift
