#pragma once

// The note that heapsift itself writes into the cores that it captures.

#include "parsers/elf/bytes.h"
#include "parsers/elf/core_types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

inline constexpr std::string_view capture_note_owner = "heapsift";
inline constexpr std::uint32_t capture_note_type = 1;

/// The note's content.
std::string capture_note(const CaptureFacts& facts);

/// Nothing if it does not read, is longer than a kilobyte, or has a number out of its range. Entries that it does not
/// know are skipped: a later heapsift may write more.
std::optional<CaptureFacts> read_capture_note(Bytes content);

}  // namespace heapsift
