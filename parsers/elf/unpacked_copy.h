#pragma once

// A compressed core, unpacked once and kept for the commands that follow.
//
// The problem: a hunt asks one core ten questions, and each would unpack gigabytes before it begins. The
// idea: what the first one unpacked gets a name in the folder of indexes, beside the core's index, and the
// next one maps it. It is sparse, mode 0600, and can go at any time: a command that has mapped it keeps it
// until it ends, and the next one unpacks the core again.
//
// It gets its name only when it is whole: until then it has none, so that nothing is left of a command that
// is killed. A stream that is damaged or cut is never kept: each command shall say so.
//
// Nothing in the copy says that it is right; to compute a checksum would cost reading all of it. So a small
// file beside it (".checked") says of which compressed file it is the content (its device, inode, size, and
// the times of its last change, one of which no program can set), and how the copy stood when it was finished
// (cache_file.h: inode, size, time of change, and the machine's boot). If any of that is another now, or the
// small file is missing, the core is unpacked again. Two commands that unpack at once both succeed; one of
// the copies is the one that stays. If the small file of the other one comes last, the next command unpacks
// once more.

#include "parsers/base/cache_file.h"
#include "parsers/elf/file_mapping.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

class UnpackedCopy {
public:
    /// Of a core that is compressed, or may be: it would be kept at `path`, if it takes at most `limit` bytes
    /// of the disk and leaves `leave_free` there.
    UnpackedCopy(std::string path, std::uint64_t limit, std::uint64_t leave_free)
        : path_(std::move(path)), limit_(limit), leave_free_(leave_free) {}

    const std::string& path() const { return path_; }

    /// The copy of `core`, if it is there and right.
    std::optional<FileMapping> read(const std::string& core);
    /// Before unpacking begins: notes what `core` is.
    void begin(const std::string& core);
    /// Keeps what was unpacked into `file`, which was made for `path`.
    void keep(const std::string& core, NewFile& file);
    void cannot_keep(int error_number);

    enum class State : std::uint8_t {
        unused,  // the core is not compressed, or not whole
        found,   // by an earlier command
        kept,    // by this one
        no_room,
        cannot_write  // `error_number` says why
    };
    State state() const { return state_; }
    /// True if the core that was opened lies at `path`.
    bool is_mapped() const { return state_ == State::found || state_ == State::kept; }
    int error_number() const { return error_number_; }

    /// What else belongs to a copy.
    static constexpr const char* checked_ending = ".checked";

private:
    std::string path_;
    std::uint64_t limit_, leave_free_;
    std::string source_;  // what `core` was when unpacking began
    State state_ = State::unused;
    int error_number_ = 0;
};

}  // namespace heapsift
