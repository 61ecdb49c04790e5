// Notes as Linux writes them (gABI, "Note Section"): three 32-bit words (name size, description size, type),
// the name with its NUL, padding, the description, padding. The gABI asks for 8-byte words in 64-bit files,
// but nobody ever wrote those. Segments of alignment 8 (.note.gnu.property) pad to 8.

#include "parsers/elf/elf_notes.h"

#include <elf.h>

namespace heapsift {

std::optional<ElfNote> ElfNoteReader::next() {
    if (rest_.empty()) return std::nullopt;
    const auto header = read_at<Elf64_Nhdr>(rest_, 0);
    if (!header) {
        damaged_ = true;
        rest_ = {};
        return std::nullopt;
    }
    // 32-bit sizes in 64-bit sums cannot overflow.
    const auto padded = [this](std::uint64_t size) { return (size + padding_ - 1) / padding_ * padding_; };
    const std::uint64_t description_at = padded(sizeof(Elf64_Nhdr) + header->n_namesz);
    const Bytes name = clipped(rest_, sizeof(Elf64_Nhdr), header->n_namesz);
    ElfNote note;
    note.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    while (!note.name.empty() && note.name.back() == '\0') note.name.remove_suffix(1);
    note.type = header->n_type;
    note.description = clipped(rest_, description_at, header->n_descsz);
    note.cut = name.size() < header->n_namesz || note.description.size() < header->n_descsz;
    if (note.cut) damaged_ = true;
    const std::uint64_t whole = padded(description_at + header->n_descsz);
    rest_ = note.cut ? Bytes{} : clipped(rest_, whole, rest_.size());
    return note;
}

std::string build_id_in_notes(Bytes bytes, std::uint64_t alignment) {
    ElfNoteReader notes(bytes, alignment);
    while (const auto note = notes.next())
        if (note->type == NT_GNU_BUILD_ID && note->name == "GNU" && !note->cut &&
            note->description.size() >= 2 && note->description.size() <= 64)
            return lower_case_hex(note->description);
    return {};
}

std::string lower_case_hex(Bytes bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const std::byte b : bytes) {
        out += digits[std::to_integer<unsigned>(b) >> 4];
        out += digits[std::to_integer<unsigned>(b) & 15];
    }
    return out;
}

}  // namespace heapsift
