// A position-dependent interpreter has its heap below 4 GiB, where any number of 32 bits may be the address of a
// block. Such a number makes what leaked look reached, and gives an object what is not its own. How often that happens
// is chance, but three kinds of such numbers stand in every process, and their neighbours tell what they are:
//
// - The end of a text: up to four characters behind eight others. ("Special value for use in realpath()." ends in
//   0x2e292868, and heaps of 600 MiB have blocks there.) In a block the text has to begin with it, or behind
//   zeros, an allocator's word or Python's debug marks: an address may consist of such bytes, and stand behind what is left of
//   a text that was there before. (In a torch process that is so for dozens of blocks.)
// - The hash of a version's name. The dynamic linker keeps one for each version of each library beside the name's
//   address (struct r_found_version, glibc's include/link.h): about a hundred numbers in a process, and those of
//   GLIBC_2.10 to GLIBC_2.36 differ in their last byte only. So where the heap covers 0x69691xx, 105 MiB, they lead to
//   every small block there. The hash is that of the System V ABI, "Hash Table".
// - A thousand million, by which clocks count nanoseconds.
//
// In any heap a block that is handed out again keeps what was there. A text that was written over an address leaves its
// high bytes behind the text's own zero: 0x7f93cd003420 behind "… 4", which leads into a large block sooner or later.

#include "parsers/snapshot/low_numbers.h"

#include <cstring>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t first_high = std::uint64_t{1} << 32, nanoseconds = 1'000'000'000;
constexpr std::uint64_t most_of_hash = (std::uint64_t{1} << 28) - 1;
constexpr std::size_t longest_name = 255;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t index) {
    std::uint64_t word = 0;
    if (8 * index + 8 <= bytes.size()) std::memcpy(&word, bytes.data() + 8 * index, 8);
    return word;
}

bool is_character(std::uint64_t byte) {
    return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t' || byte == '\r';
}

bool is_text(std::uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8)
        if (!is_character(word & 0xff)) return false;
    return true;
}

/// Whether a text has filled the words before, and is what its place was made for.
bool follows_text(WordsOf of, std::span<const std::byte> bytes, std::size_t index) {
    constexpr std::uint64_t debug_mark =
        0xfdfdfdfdfdfdfd00;  // with a letter (obmalloc.c, _PyMem_DebugRawAlloc)
    if (!is_text(word_at(bytes, index - 1))) return false;
    if (of != WordsOf::block) return of == WordsOf::module;
    std::size_t first = index - 1;
    while (first > 0 && is_text(word_at(bytes, first - 1))) --first;
    const bool is_marked =
        (first == 2 || first == 4) && (word_at(bytes, first - 1) & ~std::uint64_t{0xff}) == debug_mark;
    std::size_t filled = first;  // before that only zeros
    while (filled > 0 && word_at(bytes, filled - 1) == 0) --filled;
    return first == 0 || is_marked || ((first == 1 || filled == 0) && index - first >= 2);
}

/// Whether a text that has filled the words before ends with this one.
bool ends_text(WordsOf of, std::span<const std::byte> bytes, std::size_t index, std::uint64_t word) {
    for (; word != 0; word >>= 8)
        if (!is_character(word & 0xff)) return false;
    return follows_text(of, bytes, index);
}

std::uint64_t version_hash(std::string_view name) {
    std::uint32_t hash = 0;
    for (const char c : name) {
        hash = (hash << 4) + static_cast<unsigned char>(c);
        const std::uint32_t top = hash & 0xf0000000U;
        hash = (hash ^ (top >> 24)) & ~top;
    }
    return hash;
}

/// Where the names cannot be read: a library's constant, the number, and nothing or a library's constant.
bool is_version_hash(const AddressSpace& memory, std::uint64_t name, std::uint64_t word, std::uint64_t next) {
    const Segment* const names = memory.find(Address(name));
    if (!names || names->module < 0 || names->writable) return false;
    if (names->data) {
        const auto text = memory.read_c_string(Address(name), longest_name);
        return text && version_hash(*text) == word;
    }
    if (next == 0) return true;
    const Segment* const file = memory.find(Address(next));
    return file && file->module >= 0 && !file->writable;
}

}  // namespace

bool is_low_number(const AddressSpace& memory, WordsOf of, std::span<const std::byte> bytes,
                   std::size_t index, std::uint64_t word) {
    if (word >= first_high) return false;
    if (word == nanoseconds) return true;
    if (index == 0) return false;
    const std::uint64_t before = word_at(bytes, index - 1);
    return ends_text(of, bytes, index, word) ||
           (word <= most_of_hash && is_version_hash(memory, before, word, word_at(bytes, index + 1)));
}

bool is_text_over_address(WordsOf of, std::span<const std::byte> bytes, std::size_t index,
                          std::uint64_t word) {
    if (index == 0 || !is_character(word & 0xff)) return false;
    while (is_character(word & 0xff)) word >>= 8;
    return (word & 0xff) == 0 && follows_text(of, bytes, index);
}

}  // namespace heapsift
