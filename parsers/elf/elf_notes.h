#pragma once

// The notes of a PT_NOTE segment or an SHT_NOTE section: name, type, description, each padded. Cores,
// executables and the images inside a core have them.

#include "parsers/elf/bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// Of a segment or section of notes, no more than this is read.
constexpr std::uint64_t most_note_bytes = 64 * 1024;

struct ElfNote {
    std::string_view name;  // without the NUL
    std::uint32_t type = 0;
    Bytes description;
    bool cut = false;  // the description is longer than what is there
};

/// Takes the notes off `bytes` one by one.
class ElfNoteReader {
public:
    /// `alignment` is that of the segment or section: 8 pads to 8 bytes, anything else to 4 (cores say 1 and
    /// mean 4).
    ElfNoteReader(Bytes bytes, std::uint64_t alignment) : rest_(bytes), padding_(alignment == 8 ? 8 : 4) {}

    /// The next note, or nothing at the end. Only the last one may be `cut`.
    std::optional<ElfNote> next();
    /// Whether sizes ran past the end, or bytes that are not a note were left over.
    bool damaged() const { return damaged_; }

private:
    Bytes rest_;
    std::uint64_t padding_;
    bool damaged_ = false;
};

/// The NT_GNU_BUILD_ID among the notes, in lower-case hex; empty if there is none. Ids of 2 to 64 bytes are
/// accepted.
std::string build_id_in_notes(Bytes bytes, std::uint64_t alignment);

/// Two digits a byte, lower case.
std::string lower_case_hex(Bytes bytes);

}  // namespace heapsift
