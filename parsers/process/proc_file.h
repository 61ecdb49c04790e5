#pragma once

// Small files of the system that say something of a living process.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// What the file must be a file of. A path below /proc/PID/root leads into folders that the process may have
/// filled itself: there only the kernel's own files are believed.
enum class ProcFileOf { anything, control_groups };

/// At most `most` bytes of a regular file; nothing if it cannot be read or is not that. Never blocks, follows
/// no link in the last step. Cost: three or four system calls.
std::optional<std::string> read_proc_file(const std::string& path, std::size_t most = 1 << 16,
                                          ProcFileOf what = ProcFileOf::anything);

/// The rest of the line that begins with `key` ("VmRSS:"), without the blanks around it; nothing if there is
/// none.
std::optional<std::string_view> line_of(std::string_view text, std::string_view key);

/// The number that `text` begins with, blanks before it skipped; nothing for any other beginning, a sign, or
/// more than 64 bits.
std::optional<std::uint64_t> leading_number(std::string_view text, int base = 10);

}  // namespace heapsift
