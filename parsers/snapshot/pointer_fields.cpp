// Nothing marks the words of a block that are pointers, and one that is taken for a pointer and is none takes a
// whole structure from its owner. What tells is that a program writes the same thing at the same place of every
// block of a kind: blocks of one size, and, if they are C++ objects, of one class. A field in which one word in
// ten (of those that are not zero) leads to the start of a block, or near it, has pointers; a number or a text leads
// there once in a thousand times, and elsewhere each time. The next best is a field of which only few words lead
// to blocks at all, but those as pointers do: a union, or blocks of one size that are of several kinds. Blocks of
// which there are few, and large ones, are arrays: all their words are one field. The last word of a block may lie
// behind what the program asked for, and have what was there before: it needs more of its kind. A pointer there leads
// somewhere in most blocks of a kind that have one; what was there before is a pointer in some of them, and led in
// real RDKit and PyQt5 processes from molecules to other molecules, and from list items to images.
//
// Malloc gives 16 bytes more than asked for where too little would be left over. The smallest block of a C++ class tells how
// much its objects need; what a block has above that is no field, and keeps what was there before. (In a real torch
// process such a word led from a storage to another loss' graph.)
//
// A std::string of up to 15 characters keeps them in itself, behind their address and their number. Whatever of these 16
// bytes it does not use has what was there before, often an address of which the first byte is now the text's end.
//
// A std::vector keeps where its elements begin, where they end, and where its room ends. What lies between the last two is
// what was there before, and only counts where nothing else leads. (Molecules of RDKit led to each other so.)
//
// Pointers that lead behind the start of a block by what the library adds (8 bytes of an allocator's header, a
// second base, a page's header at its end) do so often and always by as much.
//
// Where data are to begin with a line of the processor's cache, a library asks for some bytes more and keeps the first
// address in the block that is such a line's (the dynamic linker's table of what dladdr and unwinders look up,
// glibc's elf/dl-find_object.c). With pages it is the same: buffers for the disk, stacks, what is to be protected.
//
// A position-dependent interpreter has its heap below 4 GiB, where every number of 32 bits may be an address; a
// word above that which leads near the start of a block is a pointer. (Measured on eight real cores: numbers hit a
// block's start in 5 of 10,000 cases at worst, in a heap below 4 GiB, and 4 of 7.4 million words that are none did
// above.)

#include "parsers/snapshot/pointer_fields.h"

#include "parsers/elf/bytes.h"

#include <algorithm>
#include <limits>

namespace heapsift {
namespace {

constexpr std::uint64_t surely_an_address = std::uint64_t{1} << 32, large_block = 1 << 16;
constexpr std::uint64_t most_slack = 16;      // bytes that malloc may add to a block
constexpr std::uint64_t smallest_block = 24;  // usable bytes
constexpr std::uint32_t enough_blocks = 16;   // of a class, to tell its fields by
constexpr std::uint32_t most_sampled = 4096;
constexpr std::uint64_t nearest = 64;  // bytes that a library's header may have
constexpr std::uint64_t enough_alike = 16, above_chance = 8, farthest_alike = 1 << 14;
constexpr std::uint64_t cache_lines[] = {64, 128}, worth_aligning = 512;  // bytes
constexpr std::size_t most_places = 1 << 20;                              // that are told apart

/// Words that lead to one place in blocks of one size.
std::uint64_t place(std::uint64_t size, std::uint64_t offset) { return size * 0x9e3779b97f4a7c15 + offset; }

bool is_tenth(std::uint64_t part, std::uint64_t whole) { return part > 0 && part * 10 >= whole; }

}  // namespace

PointerFields::PointerFields(const CoreFile& core) : core_(core), lowest_(~std::uint64_t{0}) {
    for (const Module& module : core.modules()) {
        lowest_ = std::min(lowest_, module.start);
        highest_ = std::max(highest_, module.image_end);
    }
}

void PointerFields::Counts::add(std::uint64_t offset) {
    ++hits;
    if (offset < 8)
        ++tags[offset];
    else if (offset <= nearest && offset % 8 == 0)
        ++near[offset / 8 - 1];
    else
        ++far;
}

PointerFields::Class PointerFields::class_of(const BlockNumbers::Block& block,
                                             std::span<const std::byte> bytes) const {
    Class result{block.bytes, Address()};
    if (bytes.size() < 8) return result;
    std::uint64_t first = 0;
    std::memcpy(&first, bytes.data(), 8);
    const Address table(first);
    if (table < lowest_ || table >= highest_ || !table.aligned(8)) return result;
    if (const Segment* segment = core_.memory().find(table); segment && segment->module >= 0)
        result.table = table;
    return result;
}

void PointerFields::count_table(const Class& of) {
    OfTable& table = tables_[of.table.value];
    if (table.count == 0 || of.size < table.smallest)
        table = {of.size, 1, of.size + most_slack == table.smallest ? table.count : 0};
    else if (of.size == table.smallest)
        ++table.count;
    else if (of.size == table.smallest + most_slack)
        ++table.with_slack;
}

/// Of a block of a C++ class, the bytes that are surely the object's.
std::uint64_t PointerFields::object_bytes(const Class& of) const {
    const auto at = tables_.find(of.table.value);
    if (at == tables_.end()) return of.size;
    const OfTable& table = at->second;
    return of.size == table.smallest + most_slack && table.with_slack < table.count ? table.smallest
                                                                                    : of.size;
}

const PointerFields::Known* PointerFields::known(const Class& of) const {
    if (of.size == 0) return nullptr;
    const auto at = classes_.find(of);
    return at == classes_.end() ? nullptr : &at->second;
}

void PointerFields::count(const BlockNumbers::Block& block, std::span<const std::byte> bytes) {
    if (block.bytes > largest_of_a_class) return;
    const Class of = class_of(block, bytes);
    ++classes_[of].count;
    if (!of.table.is_null()) count_table(of);
}

PointerFields::Counts* PointerFields::counts_to_fill(const BlockNumbers::Block& block,
                                                     std::span<const std::byte> bytes) {
    if (block.bytes > largest_of_a_class) return nullptr;
    const auto at = classes_.find(class_of(block, bytes));
    if (at == classes_.end() || at->second.count < enough_blocks) return nullptr;
    Known& known = at->second;
    const std::uint32_t step = (known.count - 1) / most_sampled + 1;
    if (known.seen++ % step != 0) return nullptr;
    if (known.first == no_fields) {
        known.first = counts_.size();
        counts_.resize(counts_.size() + block.bytes / 8);
    }
    ++known.sampled;
    return &counts_[known.first];
}

/// The first of these words leads to the start of `target`.
void PointerFields::note_vector(const BlockNumbers::Block& target, std::span<const std::byte> words) {
    std::array<std::uint64_t, 4> word{};
    if (words.size() < 24) return;
    std::memcpy(word.data(), words.data(), std::min(words.size(), sizeof word));
    const auto [begin, end, end_of_room, next] = word;
    if (end < begin || end > end_of_room || end_of_room > begin + target.bytes) return;
    if (begin + target.bytes - end_of_room >= smallest_block) return;
    // The iterator of a std::deque at the start of a node has its place twice, the node's end, and where it has the node from.
    if (end == begin && core_.memory().read<std::uint64_t>(Address(next)) == begin) return;
    const std::uint64_t elements = (end - begin + 7) / 8;
    if (elements > std::numeric_limits<std::uint32_t>::max()) return;
    std::uint32_t& of_block = elements_end_[target.number];
    of_block = std::max(of_block, static_cast<std::uint32_t>(elements));
}

void PointerFields::learn_far(const BlockNumbers::Block& target, std::uint64_t offset) {
    if (offset <= 16 || offset % 8 != 0) return;
    ++of_size_[target.bytes];
    if (offset > farthest_alike) return;
    const std::uint64_t key = place(target.bytes, offset);
    if (alike_.size() < most_places || alike_.contains(key)) ++alike_[key];
}

// Chance leads to each place of a block as often as to any other.
bool PointerFields::are_alike(std::uint64_t size, std::uint64_t offset) const {
    if (offset > farthest_alike) return false;
    const auto count = alike_.find(place(size, offset));
    if (count == alike_.end() || count->second < enough_alike) return false;
    const auto of_size = of_size_.find(size);
    return of_size != of_size_.end() && count->second * (size / 8) >= above_chance * of_size->second;
}

Belief PointerFields::by_counts(const Counts& counts, std::uint64_t word, std::uint64_t offset) {
    std::uint64_t near = 0;
    for (const std::uint32_t count : counts.near) near += count;
    const auto among = [&](std::uint64_t whole) {
        if (offset == 0) return is_tenth(counts.tags[0] + near, whole);
        if (offset < 8) return is_tenth(counts.tags[offset], whole);
        return near * 2 >= whole || is_tenth(counts.near[offset / 8 - 1], whole);
    };
    const bool high = word >= surely_an_address;
    if (among(counts.filled) || (high && offset >= 8)) return Belief::field;
    if (among(counts.hits)) return Belief::union_;
    return offset == 0 || offset == 8 || offset == 16 || high ? Belief::alone : Belief::none;
}

bool PointerFields::is_short_text(const Fields& fields, std::size_t index) {
    constexpr std::uint64_t room = 16, address_bytes = 7;  // the seventh is 0
    const auto word = [&](std::size_t at) {
        std::uint64_t value = 0;
        if (8 * at + 8 <= fields.bytes_.size()) std::memcpy(&value, fields.bytes_.data() + 8 * at, 8);
        return value;
    };
    for (std::size_t back = 2; back <= 3 && back <= index; ++back) {
        const std::size_t string = index - back;
        const std::uint64_t length = word(string + 1), before = 8 * (back - 2);
        if (Address(word(string)) != fields.start_ + 8 * (string + 2) || length >= room) continue;
        // All that an address has would be characters: then none of them is the text's end.
        return length < before + address_bytes || (word(index) >> 8 * (address_bytes - 1)) != 0;
    }
    return false;
}

/// Whether the last word may lie behind what was asked for: few blocks have it, or it leads to no block's start in half
/// of those that do.
bool PointerFields::may_be_slack(const Fields& fields, std::size_t index) {
    if (!fields.first_ || index != fields.last_) return false;
    const Counts& counts = fields.first_[index];
    std::uint64_t starts = *std::max_element(counts.tags.begin(), counts.tags.end());
    for (const std::uint32_t count : counts.near) starts += count;
    return !is_tenth(counts.filled, fields.sampled_) || starts * 2 < counts.filled;
}

Belief PointerFields::belief(const Fields& fields, std::size_t index, std::uint64_t word,
                             const BlockNumbers::Block& target, std::uint64_t offset) const {
    if (index >= fields.end_ || is_short_text(fields, index)) return Belief::none;
    if (index >= fields.elements_end_)
        return belief(word, target, offset) == Belief::none ? Belief::none : Belief::anywhere;
    const Belief found = by_field(fields.first_ ? fields.first_[index] : fields.own_, word, target, offset);
    if (found == Belief::field && may_be_slack(fields, index)) return Belief::alone;
    return found == Belief::union_ && index == fields.last_ ? Belief::alone : found;
}

Belief PointerFields::by_field(const Counts& counts, std::uint64_t word, const BlockNumbers::Block& target,
                               std::uint64_t offset) const {
    if (offset < 8 || (offset <= nearest && offset % 8 == 0)) {
        const Belief of_field = by_counts(counts, word, offset);
        if (of_field != Belief::none) return of_field;
        return belief(word, target, offset) == Belief::none ? Belief::none : Belief::anywhere;
    }
    if (are_alike(target.bytes, offset)) {
        if (is_tenth(counts.far, counts.filled)) return Belief::field;
        if (is_tenth(counts.far, counts.hits)) return Belief::union_;
    }
    if (offset % 8 == 0 && word >= surely_an_address && target.bytes >= large_block) return Belief::union_;
    return belief(word, target, offset);
}

Belief PointerFields::belief(std::uint64_t word, const BlockNumbers::Block& target,
                             std::uint64_t offset) const {
    constexpr std::uint64_t most_header = 128;
    const bool high = word >= surely_an_address;
    if (offset <= 2 || offset == 8 || offset == 16) return Belief::field;
    if (offset < 8) return high ? Belief::alone : Belief::none;
    // SQLite leaves 4 bytes before a page's copy, behind its allocator's header (btree.c, allocateTempSpace).
    if (offset == 12) return Belief::alone;
    if (offset % 8 != 0) return Belief::none;
    if (high && offset <= nearest) return Belief::field;
    if (high && (offset <= most_header || target.bytes < large_block)) return Belief::anywhere;
    for (const std::uint64_t line : cache_lines)
        if (Address(word).aligned(line) && offset < line && target.bytes >= worth_aligning)
            return Belief::alone;
    if (Address(word).aligned(page_bytes) && offset < page_bytes && target.bytes >= 2 * page_bytes)
        return Belief::alone;
    return are_alike(target.bytes, offset) ? Belief::anywhere : Belief::none;
}

}  // namespace heapsift
