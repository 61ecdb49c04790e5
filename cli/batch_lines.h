#pragma once

// The lines of a batch, as a file that grows: what -o writes, and --resume reads.
//
// A batch over thousands of cores takes hours, and is killed in the middle of it: by a scheduler, by a reboot. So each
// line is written with one call, as soon as it is there, and who goes on with such a file cuts off a last line that was
// not finished. What was answered is told by the identity of the core (parsers/elf/core_key.h) and not by its path:
// cores are moved, compressed, and read from other mounts. So of copies of one core that a batch comes upon the first
// has a line. A cut core is another than the whole one, and than one that was cut elsewhere; but where the whole one has
// a line, it has nothing to add.

#include "cli/json.h"
#include "parsers/base/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace heapsift {

inline constexpr const char* batch_schema = "heapsift.batch/1";

/// The file of -o. Only one process at a time writes it.
class LinesFile {
public:
    /// Makes the file, mode 0600; with `go_on`, or if it is empty, one that is there is gone on with, without a line at its
    /// end that was begun and is not whole; what else was written there, by whatever editor, gets an end. Throws `Error` (exit 2): "output-exists", "output-in-use", "cannot-create".
    LinesFile(const std::string& path, bool go_on);
    /// One line, with its end. Throws `Error` (exit 1, "cannot-write"); then nothing of it is in the file.
    void write(const std::string& line);

private:
    std::string name_;
    Descriptor file_;
};

/// A path as a line has it: bytes that are not UTF-8, which JSON has no words for, as "\\xff". So two such paths are two, and
/// known again.
std::string path_in_line(std::string_view path);

/// Whether a batch may go on in that file: it is empty, not there, or begins as a line does. Its end is cut where a line
/// was not ended, so nothing else may be taken for one.
bool may_be_lines(const std::string& path);

/// What the analysis of one core may take; 0: no limit.
struct BatchLimits {
    std::uint64_t seconds = 0, memory = 0;  // --timeout; --max-memory, in bytes
};

/// Cores that need not be asked again, with these limits.
class AnsweredCores {
public:
    explicit AnsweredCores(const BatchLimits& limits = {}) : limits_(limits) {}
    /// Adds those of a file of lines. A line that is none of a batch's, or not whole, is skipped, and counted by
    /// `skipped`. Cores over which heapsift was killed or not started count as not answered, and so do those that a limit
    /// ended which is larger now, or gone (the line's column `limits`). Throws `Error` (exit 2, "no-lines") if it cannot
    /// be read, or is a folder or a device other than /dev/null; one that does not exist has no lines.
    void add_lines(const std::string& path);
    void add_line(const Json& line);

    /// `key`: of the core, whole or found to be cut; by path only what has none, `path_in_line`. `file_bytes`: of its file.
    bool has(const std::string& key, const std::string& path, std::uint64_t file_bytes = 0) const;
    std::size_t skipped() const { return skipped_; }
    std::size_t count() const { return keys_.size() + paths_.size(); }

private:
    bool is_worth_more(const Json& line) const;

    BatchLimits limits_;
    std::set<std::string> keys_, paths_;
    std::size_t skipped_ = 0;
};

/// "2/8": the second of eight parts. Each path belongs to one part, by a hash of it: whatever other paths there are.
struct Shard {
    std::size_t number = 1, count = 1;
    bool has(const std::string& path) const;
};
/// Throws `Error` (exit 2, "bad-option").
Shard shard_of(const std::string& text);

}  // namespace heapsift
