#pragma once

// One file in which the work of one command is kept for the next.
//
// The problem: a hunt asks one core ten questions, and finding its objects and references costs seconds each
// time. The idea: columns are written as they lie in memory, and the next command maps them and reads them
// where they are. What is computed by different commands is kept as different *parts* ("objects",
// "references"), which are added to the file one after the other.
//
// The file begins with two slots of one page each. A slot names the core and the build that the file is for
// (its key), and says where each part's blobs lie and what their checksums are. The newer of the two that
// reads is in force. Adding a part appends its blobs behind all others and then writes the older slot: a
// writer that is killed at any moment leaves the other slot, and what it appended is overwritten by the next.
// No byte that a slot in force refers to is ever written again, so that readers need no lock. Writers lock
// the file; a second one does not wait, and adds nothing.
//
// Nothing in it is believed. A slot counts only with its magic, its checksum and the right key. A blob is
// used after its checksum was compared, and the values in it only after they were found in range (part.h).
// That costs as much as reading all of it, so what was found right is remembered in a small file beside it
// (`trusted`): with the file's inode, size and time of change (st_ctime, which no program can set), and the
// machine's boot. Any write to the index since then changes that time, and everything is checked again. A
// file of another user's, or one that others may write, is not used at all. If somebody cuts it while it is
// mapped, the bus error is blamed on it, and its name removed (parsers/elf/cached_mapping.h).

#include "parsers/index/part.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// What an index is for: of the core, of what shapes its heap, and of this build of heapsift.
using IndexKey = std::array<std::uint64_t, 2>;

/// A blob of a part: its place in the file. As it lies there.
struct IndexBlob {
    std::array<char, 24> part{};  // its name; the rest is 0
    std::uint64_t offset = 0, bytes = 0;
    std::uint64_t checksum = 0;  // XXH3
};

class IndexFile {
public:
    enum class State : std::uint8_t {
        absent,   // there is none, or none that a writer finished
        usable,   // some parts may be there
        foreign,  // of another core, of other options, or of another build
        damaged,  // it is cut, or does not read
        refused   // not a regular file, another user's, or others may write it
    };

    /// Opens and maps the file; never throws, and never creates it.
    IndexFile(std::string path, const IndexKey& key);
    IndexFile(const IndexFile&) = delete;
    IndexFile& operator=(const IndexFile&) = delete;
    ~IndexFile();

    const std::string& path() const { return path_; }
    State state() const { return state_; }
    /// Why its state is `damaged` or `refused`, for people; else "".
    const std::string& why() const { return why_; }

    bool has(std::string_view part) const;
    struct PartSize {
        std::string name;
        std::uint64_t bytes = 0;
    };
    /// What it has, in the order in which it was written; nothing if it is not usable.
    std::vector<PartSize> parts() const;
    /// How many parts have a name that begins so.
    std::size_t parts_beginning_with(std::string_view name) const;
    /// Of the whole file, as it was when it was opened; 0 if it is not usable.
    std::uint64_t bytes() const;
    /// Fills something from a part: `fill(PartReader&)`, which must not change anything before it has read
    /// all. Returns false if the part is not there, or is damaged: then nothing of the file is used from now
    /// on, and `state` says so.
    template <class Fill>
    bool read(std::string_view part, Fill&& fill) {
        if (!has(part)) return false;
        try {
            PartReader reader = open(part);
            fill(reader);
            reader.finish();
            note_checked(part);
            return true;
        } catch (const IndexDamage& damage) {
            give_up(damage.what());
            return false;
        }
    }

    enum class Kept : std::uint8_t {
        kept,
        nothing_new,  // all of the parts were there
        being_written,
        no_room,       // the disk, a quota or `limit`
        cannot_write,  // `error_number` says why
    };
    struct Result {
        Kept kept = Kept::nothing_new;
        int error_number = 0;
        std::uint64_t bytes = 0;  // of the whole file
    };
    /// Adds those of the parts that are not there yet, of several with one name the first (but none with a
    /// name of 24 bytes or more); if the file is not usable, it is replaced. The file will have at most
    /// `limit` bytes. Afterwards it must be opened anew to be read.
    Result keep(const std::vector<PartWriter>& parts, std::uint64_t limit);

    /// Remembers what `read` found right, for the next command. Does nothing if nothing was checked.
    void remember_checked();

private:
    struct Slot;
    struct Mapped;

    PartReader open(std::string_view part) const;
    void give_up(const std::string& why);
    void note_checked(std::string_view part);
    std::string trusted_path() const { return path_ + ".checked"; }
    void read_trusted();
    Result append(const std::vector<PartWriter>& parts, std::uint64_t limit);
    Result replace(const std::vector<PartWriter>& parts, std::uint64_t limit);

    std::string path_;
    IndexKey key_;
    State state_ = State::absent;
    std::string why_;
    std::shared_ptr<const Mapped> file_;
    std::vector<IndexBlob> blobs_;
    std::vector<std::string> trusted_;  // parts that were found right by an earlier command
    std::vector<std::string> checked_;  // by this one
};

}  // namespace heapsift
