// jemalloc finds the owner of an address in a radix tree over page numbers, and so does heapsift.
//
// The root is a table of pointers in jemalloc's own .bss, and a leaf has an entry for each page: the address of the
// extent that the page belongs to (a struct of 128 bytes that says where it begins, how long it is and in which
// state), its size class, and flags. A slab is named by each of its pages, any other extent by its first and last.
// Built for addresses of 48 bits, the root has 2^18 pointers to leaves, one for each GiB, and all of an entry is in
// one word: the class in the top 16 bits, flags in the low ones. Built on a machine with addresses of 57 bits (as
// Debian 13's is), there are tables of 2^15 pointers between the root and the leaves, and an entry has two words.
//
// No symbol is needed, which distributions strip, and no name of a file: jemalloc may be linked into a program
// or an extension module. The tree proves itself. A pointer in a .bss is a leaf's if one of the leaf's words leads
// to an extent that begins at the very page of that word; which page also says which entry of the root this is, and
// so where the root begins. Then all extents are looked at: the size class in the leaf and in the extent must be
// the same, they must not overlap, a slab must hold at most 512 regions of its class and as many free bits as it says.
// If one in nine does not, it is no tree. Where the fields lie differs between 5.2 and 5.3; the version whose fields
// prove more is believed.
//
// What jemalloc has for itself lies in blocks of 2 MiB and their multiples: a size, the next block, and an extent of
// what is left of it, which ends where the block does.
//
// Only pages of 4 KiB are read, jemalloc's default on x86-64. Source: jemalloc's
// rtree.h, extent_structs.h (5.1.0, 5.2.0, 5.2.1), edata.h, sz.h (5.3.0, 5.3.1), sc.c, base.c.

#include "parsers/memory/jemalloc_tree.h"

#include "parsers/memory/region_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t page = 4096;
constexpr unsigned page_bits = 12, user_bits = 47;  // a process has the lower half of the addresses
constexpr Address end_of_process(std::uint64_t{1} << 47);
constexpr std::uint64_t huge_page = 2 << 20;
constexpr std::uint64_t extent_bytes = 128, addr_at = 8, size_at = 16, bits_at = 64;
constexpr std::uint64_t most_regions = 512;
constexpr unsigned slab_bit = 12;
constexpr std::uint64_t least_proven = 8, proven_to_broken = 8;
// While a root is looked for: pointers to possible leaves and entries of a leaf that are looked at, bytes of tables
// that are read, and roots that are tried.
constexpr unsigned tried_tables = 2, tried_entries = 8;
constexpr std::uint64_t most_read = 256 << 20;
constexpr unsigned most_roots = 64;
// Of jemalloc's own blocks: their size, in huge pages, and how many are found by the one before alone.
constexpr std::uint64_t most_back = 1024, most_chained = 4096;

/// Where the fields of an extent's first word lie, and what the low bits of a leaf's word are.
struct Fields {
    JemallocVersion version;
    unsigned state_at, state_bits, class_at, free_at;
    std::uint64_t flags;  // of a leaf's word; the lowest one: a slab
    bool leaf_has_state;  // in bits 2 to 4
    std::uint64_t alignment;
};
constexpr std::array<Fields, 2> versions{{{JemallocVersion::v5_3, 17, 3, 20, 28, 0x7f, true, 128},
                                          {JemallocVersion::v5_2, 16, 2, 18, 26, 0x01, false, 64}}};

/// How a tree is laid out: bits of an address that each table goes by. Without `middle_bits` there are two levels.
struct Shape {
    unsigned root_bits, middle_bits, leaf_bits;
    std::uint64_t entry_bytes;  // of a leaf
    /// Behind a pointer in the root, 64 words that are 0 whichever it is, since no process has those addresses.
    std::uint64_t zeros_behind;

    unsigned leaf_at() const { return page_bits + leaf_bits; }
    unsigned root_at() const { return leaf_at() + middle_bits; }
    std::uint64_t leaf_entries() const { return std::uint64_t{1} << leaf_bits; }
    std::uint64_t leaf_bytes() const { return leaf_entries() * entry_bytes; }
    std::uint64_t middle_entries() const { return std::uint64_t{1} << middle_bits; }
    std::uint64_t root_bytes() const { return std::uint64_t{8} << root_bits; }
    std::uint64_t user_entries() const { return std::uint64_t{1} << (user_bits - root_at()); }
};
constexpr std::uint64_t zero_words = 64;
constexpr std::array<Shape, 2> shapes{
    {{18, 0, 18, 8, 8 * ((1 << 17) - zero_words)}, {15, 15, 15, 16, std::uint64_t{8} * (1 << 5)}}};

std::uint64_t load(const std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// The first entry of a table whose first word is not 0, or the end.
std::uint64_t next_set(const std::byte* table, std::uint64_t at, std::uint64_t end,
                       std::uint64_t entry_bytes) {
    while (at < end && load(table + entry_bytes * at) == 0) ++at;
    return at;
}

/// What a leaf says of a page.
struct Entry {
    Address extent;
    std::uint64_t size_class = 0, state = 0;
    bool slab = false;
};

struct Extent {
    AddressRange pages;
    Address start;
    bool active = false, slab = false, equal = true;
    unsigned size_class = 0;
    std::array<std::uint64_t, most_regions / 64> free{};
};

class TreeReader {
public:
    TreeReader(const AddressSpace& memory, const Fields& fields, const Shape& shape)
        : memory_(memory), fields_(fields), shape_(shape) {}

    /// `at`: an entry of a leaf.
    Entry entry(const std::byte* at) const {
        const std::uint64_t word = load(at);
        if (shape_.entry_bytes == 8)
            return {Address(word & 0xffffffffffff & ~fields_.flags), word >> 48, word >> 2 & 7,
                    (word & 1) != 0};
        const std::uint64_t more = load(at + 8);
        if (fields_.version ==
            JemallocVersion::v5_2)  // 32 bits of the class, 8 that say whether it is a slab
            return {Address(word), more & 0xffffffff, 0, (more >> 32 & 0xff) != 0};
        return {Address(word), (more & 0xffffffff) >> 5, more >> 2 & 7, (more & 1) != 0};
    }

    /// The extent of an entry, if both agree.
    std::optional<Extent> read(const Entry& entry) const {
        const Address at = entry.extent;
        if (at.is_null() || at >= end_of_process || !at.aligned(fields_.alignment)) return std::nullopt;
        std::array<std::byte, extent_bytes> bytes;
        if (!memory_.read_bytes(at, bytes.data(), bytes.size())) return std::nullopt;
        const std::uint64_t bits = load(bytes.data());
        const auto field = [&](unsigned from, unsigned width) {
            return (bits >> from) & ((std::uint64_t{1} << width) - 1);
        };
        Extent extent;
        extent.start = Address(load(bytes.data() + addr_at));
        const std::uint64_t size = load(bytes.data() + size_at) / page * page;
        if (extent.start >= end_of_process || size == 0 || size > end_of_process - extent.start)
            return std::nullopt;
        extent.pages.start = extent.start.rounded_down(page);
        extent.pages.end = extent.pages.start + size;
        extent.size_class = static_cast<unsigned>(field(fields_.class_at, 8));
        extent.slab = field(slab_bit, 1) != 0;
        const std::uint64_t state = field(fields_.state_at, fields_.state_bits);
        if (extent.size_class > jemalloc_classes) return std::nullopt;
        // Pages that were taken to be given back are active for a moment, with the class of free ones. The leaf
        // keeps the class that freed pages had.
        extent.active = state == 0 && extent.size_class != jemalloc_classes;
        if (fields_.leaf_has_state && entry.state != state) return std::nullopt;
        if (extent.active && (entry.size_class != extent.size_class || entry.slab != extent.slab))
            return std::nullopt;
        if (!extent.active && extent.size_class != jemalloc_classes) return std::nullopt;
        if (!extent.active) return extent;
        const std::uint64_t block = jemalloc_class_bytes(extent.size_class);
        if (!extent.slab) {
            const std::uint64_t before = extent.start - extent.pages.start;
            if (block <= size - before) return extent;
            const std::uint64_t there = size - (before > 0 ? page : 0);
            const bool in_pages = fields_.version == JemallocVersion::v5_3 && extent.size_class > 0 &&
                                  there > jemalloc_class_bytes(extent.size_class - 1);
            return in_pages ? std::optional(extent) : std::nullopt;
        }
        const std::uint64_t regions = size / block;
        if (extent.size_class >= jemalloc_slab_classes || extent.start != extent.pages.start ||
            regions == 0 || regions > most_regions)
            return std::nullopt;
        std::uint64_t free = 0;
        for (std::uint64_t i = 0; 64 * i < regions; ++i) {
            std::uint64_t group = load(bytes.data() + bits_at + 8 * i);
            if (const std::uint64_t left = regions - 64 * i; left < 64) {
                extent.equal = extent.equal && group >> left == 0;
                group &= (std::uint64_t{1} << left) - 1;
            }
            extent.free[i] = group;
            free += static_cast<std::uint64_t>(std::popcount(group));
        }
        extent.equal = extent.equal && free == field(fields_.free_at, 10);
        return extent;
    }

    JemallocTree read_tree(Address root) {
        tree_ = {};
        tree_.version = fields_.version;
        tree_.root = root;
        pads_ = false;
        for (const Leaf& leaf : leaves_of(root)) read_leaf(leaf);
        for (JemallocExtent& extent : tree_.extents)  // one of 64 begins with its first page all the same
            extent.is_padded =
                pads_ && extent.kind == JemallocExtent::Kind::large && extent.pages.size() > page;
        find_metadata();
        return std::move(tree_);
    }

private:
    struct Leaf {
        Address at;
        std::uint64_t number = 0;
        const std::byte* entries = nullptr;
    };

    /// By number. Leaves that overlap are none.
    std::vector<Leaf> leaves_of(Address root) {
        std::vector<Leaf> leaves;
        visit_pointers(root, shape_.user_entries(), [&](std::uint64_t number, Address to) {
            if (shape_.middle_bits == 0) return add_leaf(number, to, leaves);
            if (memory_.view(to, 8 * shape_.middle_entries()).empty()) {
                ++tree_.broken;
                return;
            }
            tree_.metadata.push_back({to, to + 8 * shape_.middle_entries()});
            visit_pointers(to, shape_.middle_entries(), [&](std::uint64_t more, Address leaf) {
                add_leaf(number << shape_.middle_bits | more, leaf, leaves);
            });
        });
        std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.at < b.at; });
        std::vector<Leaf> apart;
        for (const Leaf& leaf : leaves) {
            if (!apart.empty() && leaf.at - apart.back().at < shape_.leaf_bytes())
                ++tree_.broken;
            else
                apart.push_back(leaf);
        }
        for (const Leaf& leaf : apart) tree_.metadata.push_back({leaf.at, leaf.at + shape_.leaf_bytes()});
        std::sort(apart.begin(), apart.end(),
                  [](const Leaf& a, const Leaf& b) { return a.number < b.number; });
        return apart;
    }

    template <class Visit>
    void visit_pointers(Address table, std::uint64_t count, Visit&& visit) const {
        for (std::uint64_t i = 0; i < count; ++i)
            if (const auto to = memory_.read_address(table + 8 * i); to && !to->is_null()) visit(i, *to);
    }

    void add_leaf(std::uint64_t number, Address at, std::vector<Leaf>& leaves) {
        const auto entries = memory_.view(at, shape_.leaf_bytes());
        if (entries.empty() || !at.aligned(64))
            ++tree_.broken;
        else
            leaves.push_back({at, number, entries.data()});
    }

    void read_leaf(const Leaf& leaf) {
        const std::uint64_t count = shape_.leaf_entries();
        for (std::uint64_t i = 0; (i = next_set(leaf.entries, i, count, shape_.entry_bytes)) < count; ++i) {
            const Address here((leaf.number << shape_.leaf_at()) + (i << page_bits));
            if (here < done_) {  // within the extent before
                i = std::min(i + (done_ - here) / page, count) - 1;
                continue;
            }
            const Entry told = entry(leaf.entries + shape_.entry_bytes * i);
            const auto extent = read(told);
            if (!extent || extent->pages.start != here) {
                tree_.broken += told.extent != last_broken_ ? 1 : 0;
                last_broken_ = told.extent;
                continue;
            }
            add(*extent);
            note_unit(told.extent);
            done_ = extent->pages.end;
        }
    }

    void add(const Extent& extent) {
        ++tree_.proven;
        JemallocExtent made;
        made.pages = extent.pages;
        made.size_class = static_cast<std::uint8_t>(extent.size_class);
        if (extent.active && extent.slab) {
            made.kind = JemallocExtent::Kind::slab;
            made.start = tree_.free_bits.size();
            const std::uint64_t words = (jemalloc_regions(made) + 63) / 64;
            tree_.free_bits.insert(tree_.free_bits.end(), extent.free.begin(),
                                   extent.free.begin() + static_cast<std::ptrdiff_t>(words));
            if (!extent.equal) {
                ++tree_.unequal;
                --tree_.proven;
            }
        } else if (extent.active) {
            made.kind = JemallocExtent::Kind::large;
            made.start = extent.start.value;
            made.is_padded = extent.start != extent.pages.start;
            pads_ = pads_ || made.is_padded;
            made.in_use = true;
        }
        tree_.extents.push_back(made);
    }

    // --- what jemalloc has for itself

    void note_unit(Address at) {
        if (const std::uint64_t unit = at.value / huge_page; units_.empty() || units_.back() != unit)
            units_.push_back(unit);
    }

    /// The block that begins at `at`.
    std::optional<AddressRange> metadata_block(Address at) const {
        std::array<std::uint64_t, 5> words;  // size, next; of the extent: bits, address, size
        if (!at.aligned(huge_page) || !memory_.read_bytes(at, words.data(), sizeof words))
            return std::nullopt;
        const std::uint64_t size = words[0];
        if (size == 0 || size % huge_page != 0 || at >= end_of_process || size > end_of_process - at)
            return std::nullopt;
        const Address rest(words[3]);
        if (rest <= at || rest - at > size || words[4] != size - (rest - at)) return std::nullopt;
        return AddressRange{at, at + size};
    }

    /// The block that holds `at`, if there is one.
    std::optional<AddressRange> metadata_around(Address at) const {
        for (std::uint64_t back = 0; back <= most_back && back <= at.value / huge_page; ++back) {
            const Address start = at - back * huge_page;
            if (!memory_.find(start)) break;
            if (const auto block = metadata_block(start)) return block->contains(at) ? block : std::nullopt;
        }
        return std::nullopt;
    }

    /// The blocks that hold what the tree has led to, and those to which these lead.
    void find_metadata() {
        for (const AddressRange& leaf : tree_.metadata) note_unit(leaf.start);
        std::sort(units_.begin(), units_.end());
        units_.erase(std::unique(units_.begin(), units_.end()), units_.end());
        std::vector<AddressRange> blocks;
        for (const std::uint64_t unit : units_) {
            const Address at(unit * huge_page);
            if (!blocks.empty() && at < blocks.back().end) continue;
            if (const auto block = metadata_around(at)) blocks.push_back(*block);
        }
        const std::size_t led_to = blocks.size();
        const auto is_known = [&](Address start) {
            const auto same = [&](const AddressRange& block) { return block.start == start; };
            const auto more = blocks.begin() + static_cast<std::ptrdiff_t>(led_to);
            const auto first = std::lower_bound(blocks.begin(), more, start,
                                                [](const AddressRange& r, Address a) { return r.start < a; });
            return (first != more && same(*first)) || std::any_of(more, blocks.end(), same);
        };
        for (std::size_t i = 0; i < blocks.size() && blocks.size() - led_to < most_chained; ++i) {
            const Address next(memory_.read<std::uint64_t>(blocks[i].start + 8).value_or(0));
            if (next.is_null() || is_known(next)) continue;
            if (const auto block = metadata_block(next)) blocks.push_back(*block);
        }
        tree_.metadata.insert(tree_.metadata.end(), blocks.begin(), blocks.end());
        join_ranges(tree_.metadata);
    }

    const AddressSpace& memory_;
    const Fields& fields_;
    const Shape& shape_;
    JemallocTree tree_;
    Address done_, last_broken_;
    std::vector<std::uint64_t> units_;
    bool pads_ = false;  // large blocks begin anywhere in their first page (config.cache_oblivious)
};

class RootSearch {
public:
    RootSearch(const AddressSpace& memory, std::span<const AddressRange> images)
        : memory_(memory), images_(images) {}

    std::vector<JemallocTree> find() {
        for (const Segment& segment : memory_.segments()) {
            if (segment.state != ByteState::in_core || !segment.writable || !may_hold_a_root(segment))
                continue;
            memory_.visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
                const std::uint64_t first = (segment.start + from).rounded_up(8) - segment.start;
                for (std::uint64_t at = first; at + 8 <= to; at += 8)
                    if (const Address word(load(segment.data + at)); may_be_table(word))
                        look_at(segment, at, word);
            });
        }
        return std::move(trees_);
    }

private:
    /// The root and what the linker puts beside it: a large part of an image.
    bool may_hold_a_root(const Segment& segment) const {
        if (segment.size < shapes.back().root_bytes() / 2) return false;
        return in_image(segment.start);
    }

    /// jemalloc has its tables from mmap, above 4 GiB.
    static bool may_be_table(Address to) {
        return to.value >> 32 != 0 && to < end_of_process && to.aligned(64);
    }

    /// A root ends with zeros, in the same segment as its pointers.
    void look_at(const Segment& segment, std::uint64_t at, Address to) {
        for (const Shape& shape : shapes) {
            const std::uint64_t behind = at + shape.zeros_behind, end = behind + 8 * zero_words;
            if (end > segment.size || next_set(segment.data + behind, 0, zero_words, 8) < zero_words)
                continue;
            look_at(segment.start + at, to, shape);
        }
    }

    void look_at(Address at, Address to, const Shape& shape) {
        if (read_ >= most_read || roots_ >= most_roots) return;
        for (const JemallocTree& tree : trees_)
            if (at - tree.root < shape.root_bytes()) return;
        const Segment* const tables = memory_.find(to);
        if (!tables || !tables->writable || tables->module >= 0) return;
        const auto first = first_extent(to, shape);
        if (!first) return;
        const std::uint64_t number = first->value >> shape.root_at();
        if (8 * number > at.value) return;
        const Address root = at - 8 * number;
        if (memory_.mapped_bytes(root, shape.root_bytes()) != shape.root_bytes() || !in_image(root)) return;
        ++roots_;
        JemallocTree best;
        for (const Fields& fields : versions) {
            JemallocTree tree = TreeReader(memory_, fields, shape).read_tree(root);
            if (tree.proven > best.proven) best = std::move(tree);
        }
        if (best.proven >= least_proven && best.broken + best.unequal <= best.proven / proven_to_broken)
            trees_.push_back(std::move(best));
    }

    bool in_image(Address at) const {
        const Segment* segment = memory_.find(at);
        return segment && (segment->module >= 0 ||
                           std::any_of(images_.begin(), images_.end(),
                                       [&](const AddressRange& image) { return image.contains(at); }));
    }

    /// Where an extent begins that lies below a possible table that the root leads to, and says so.
    std::optional<Address> first_extent(Address to, const Shape& shape) {
        if (shape.middle_bits == 0) return first_in_leaf(to, shape);
        const auto pointers = memory_.view(to, 8 * shape.middle_entries());
        if (pointers.empty()) return std::nullopt;
        std::uint64_t at = 0;
        for (unsigned tried = 0; tried < tried_tables; ++tried, ++at) {
            const std::uint64_t from = at;
            at = next_set(pointers.data(), at, shape.middle_entries(), 8);
            read_ += 8 * (at - from + 1);
            if (at == shape.middle_entries()) return std::nullopt;
            const auto found = first_in_leaf(Address(load(pointers.data() + 8 * at)), shape);
            if (found && (found->value >> shape.leaf_at()) % shape.middle_entries() == at) return found;
        }
        return std::nullopt;
    }

    std::optional<Address> first_in_leaf(Address leaf, const Shape& shape) {
        if (!leaf.aligned(64) || leaf >= end_of_process) return std::nullopt;
        const auto entries = memory_.view(leaf, shape.leaf_bytes());
        if (entries.empty()) return std::nullopt;
        std::uint64_t at = 0;
        for (unsigned tried = 0; tried < tried_entries; ++tried, ++at) {
            const std::uint64_t from = at;
            at = next_set(entries.data(), at, shape.leaf_entries(), shape.entry_bytes);
            read_ += shape.entry_bytes * (at - from + 1);
            if (at == shape.leaf_entries()) return std::nullopt;
            for (const Fields& fields : versions) {
                const TreeReader reader(memory_, fields, shape);
                const auto extent = reader.read(reader.entry(entries.data() + shape.entry_bytes * at));
                if (extent && (extent->pages.start.value >> page_bits) % shape.leaf_entries() == at)
                    return extent->pages.start;
            }
        }
        return std::nullopt;
    }

    const AddressSpace& memory_;
    std::span<const AddressRange> images_;
    std::vector<JemallocTree> trees_;
    std::uint64_t read_ = 0;
    unsigned roots_ = 0;
};

}  // namespace

std::vector<JemallocTree> find_jemalloc_trees(const AddressSpace& memory,
                                              std::span<const AddressRange> images) {
    return RootSearch(memory, images).find();
}

}  // namespace heapsift
