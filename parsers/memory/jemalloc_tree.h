#pragma once

// jemalloc's tree of extents. (What it looks like, and how it proves itself: jemalloc_tree.cpp.)

#include "parsers/elf/address_space.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// Pages that jemalloc has as one: a slab of regions of one size, one large block, or pages that nobody has.
struct JemallocExtent {
    enum class Kind : std::uint8_t { slab, large, free };
    AddressRange pages;
    std::uint64_t start =
        0;  // of a large block: its address; of a slab: the index of its first word in free_bits
    Kind kind = Kind::free;
    std::uint8_t size_class = 0;  // of a slab's regions, of a large block
    bool in_use = false;          // a large block that the program has
    bool has_own = false;         // jemalloc keeps a table of its own in it
    bool is_padded =
        false;  // a large block that begins anywhere in the first page has one page more than it needs
};

/// What differs between versions, as far as it is read here.
enum class JemallocVersion : std::uint8_t {
    v5_2,  // 5.1, 5.2
    v5_3   // 5.3.0, 5.3.1
};

struct JemallocTree {
    JemallocVersion version = JemallocVersion::v5_3;
    Address root;
    std::vector<JemallocExtent> extents;  // by address, without overlaps
    std::vector<std::uint64_t>
        free_bits;                       // for each slab a bit per region, from a new word on: 1, it is free
    std::vector<AddressRange> metadata;  // what jemalloc has for itself; by address, without overlaps
    std::uint64_t proven = 0, broken = 0;  // extents; those that are broken are left out
    std::uint64_t unequal = 0;             // slabs whose count of free regions is not that of their bits
};

/// The trees whose roots lie in `images`, the memory of programs and libraries: one for each jemalloc that the process
/// has. Cost: nothing for images whose writable memory is below 128 KiB, else a sweep over it; then some 100 ns an
/// extent.
std::vector<JemallocTree> find_jemalloc_trees(const AddressSpace& memory,
                                              std::span<const AddressRange> images);

/// How many size classes there are, and how many of them are of regions in slabs.
inline constexpr unsigned jemalloc_classes = 232, jemalloc_slab_classes = 36;
/// The bytes of a block of a class; `size_class` is below jemalloc_classes.
constexpr std::uint64_t jemalloc_class_bytes(unsigned size_class) {
    if (size_class == 0) return 8;
    const unsigned group = (size_class - 1) / 4, step = (size_class - 1) % 4 + 1;
    if (group == 0) return std::uint64_t{16} * step;
    return (std::uint64_t{1} << (group + 5)) + (std::uint64_t{step} << (group + 3));
}
/// What the program may use of a large block: up to 5.3.0 all of its class; since 5.3.1 as many whole pages as it asked for
/// (opt.disable_large_size_classes), which its class is the next above.
inline std::uint64_t jemalloc_large_bytes(const JemallocExtent& large) {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t bytes = jemalloc_class_bytes(large.size_class),
                        there = large.pages.size() - (large.is_padded ? page : 0);
    return bytes < there ? bytes : there;
}
inline std::uint64_t jemalloc_regions(const JemallocExtent& slab) {
    return slab.pages.size() / jemalloc_class_bytes(slab.size_class);
}

}  // namespace heapsift
