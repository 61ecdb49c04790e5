// A page that the process had and that is all zeros counts as its memory; one that was never touched does not. The kernel's
// core, and a captured one that is not compressed, tell them apart by the holes of the file. But holes are lost by a copy, a
// compressed file has none, and what unpacks it makes its own. So a captured core has a note: a byte 1, then for each stretch
// of absent pages two numbers of 7 bits a byte, lowest first (LEB128): how many pages lie between it and the end of the one
// before, and how many it has. So most stretches take two to four bytes.

#include "parsers/elf/absent_pages.h"

namespace heapsift {
namespace {

constexpr std::size_t longest_absent_note = 4 << 20;
constexpr std::uint64_t absent_page = 4096;
constexpr char absent_note_form = 1;
constexpr std::uint64_t all_pages = std::uint64_t{1} << 52;  // of 64 bits of addresses

void add_number(std::string& out, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
    out += static_cast<char>(number);
}

/// Nothing at the end, or of a number that cannot be one of pages.
std::optional<std::uint64_t> take_number(Bytes& bytes) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; !bytes.empty() && shift < 56; shift += 7) {
        const auto byte = std::to_integer<std::uint64_t>(bytes.front());
        bytes = bytes.subspan(1);
        number |= (byte & 0x7f) << shift;
        if (byte < 0x80) return number < all_pages ? std::optional(number) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::string absent_pages_note(std::span<const AddressRange> pages) {
    std::string note(1, absent_note_form);
    std::uint64_t done = 0;  // up to this page
    for (const AddressRange& range : pages) {
        const std::uint64_t first = range.start.value / absent_page, end = range.end.value / absent_page;
        add_number(note, first - done);
        add_number(note, end - first);
        done = end;
        if (note.size() > longest_absent_note) return {};
    }
    return note;
}

std::optional<std::vector<AddressRange>> read_absent_pages(Bytes content) {
    if (content.empty() || content.size() > longest_absent_note + 20 ||
        content.front() != std::byte{absent_note_form})
        return std::nullopt;
    content = content.subspan(1);
    std::vector<AddressRange> pages;
    for (std::uint64_t done = 0; !content.empty();) {
        const auto gap = take_number(content), count = take_number(content);
        if (!gap || !count || *count == 0 || *gap + *count >= all_pages - done) return std::nullopt;
        const Address start((done + *gap) * absent_page);
        pages.push_back({start, start + *count * absent_page});
        done += *gap + *count;
    }
    return pages;
}

}  // namespace heapsift
