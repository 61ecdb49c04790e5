#pragma once

// The note of a captured core that says which pages of its memory were never there.

#include "parsers/base/address.h"
#include "parsers/elf/bytes.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

inline constexpr std::uint32_t absent_pages_note_type = 2;  // of capture_note_owner

/// The note's content. `pages`: whole pages of 4 KiB, ascending, without overlaps. Empty if it would be longer than 4 MiB
/// (two million stretches): then there is no note.
std::string absent_pages_note(std::span<const AddressRange> pages);

/// The stretches in the order of the note, ascending and without overlaps; nothing if it does not read. Cost and memory:
/// a step and 16 bytes for each two bytes of the note at most.
std::optional<std::vector<AddressRange>> read_absent_pages(Bytes content);

}  // namespace heapsift
