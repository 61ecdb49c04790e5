#pragma once

// The sizes of all objects: computed once, and kept in four bytes per object.
//
// Nearly every object has less than 512 KiB of memory, a multiple of eight, and a size that differs from it
// by less than 32 KiB: the two numbers fit into 16 bits each. Objects that do not fit, that have array data,
// bytes that were not saved, or damage are in a separate list, by object.

#include "parsers/cpython/object_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

class SizeColumn {
public:
    void reserve(std::size_t objects) { packed_.reserve(objects); }
    /// Adds the sizes of the next object. (Its block_size is not kept.)
    void add(const ObjectSizes& sizes) {
        const std::uint64_t less = sizes.memory - sizes.size + half;
        const bool fits = sizes.memory % 8 == 0 && sizes.memory / 8 < 0xffff && less < 2 * half &&
                          sizes.array_data == 0 && sizes.not_saved == 0 && !sizes.damaged;
        if (!fits) wide_.push_back({static_cast<std::uint32_t>(packed_.size()), sizes});
        packed_.push_back(fits ? static_cast<std::uint32_t>(sizes.memory / 8 << 16 | less) : in_list);
    }

    std::size_t count() const { return packed_.size(); }
    /// Two nanoseconds; a binary search for the few objects in the list.
    ObjectSizes operator[](std::uint32_t object) const {
        const std::uint32_t word = packed_[object];
        return word == in_list ? wide(object) : unpacked(word);
    }
    std::uint64_t memory(std::uint32_t object) const {
        const std::uint32_t word = packed_[object];
        return word == in_list ? wide(object).memory : std::uint64_t{word >> 16} * 8;
    }
    std::uint64_t memory_bytes() const {
        return packed_.capacity() * sizeof(packed_[0]) + wide_.capacity() * sizeof(wide_[0]);
    }

private:
    static constexpr std::uint32_t in_list = 0xffffffff;
    static constexpr std::uint64_t half = 1 << 15;
    struct Wide {
        std::uint32_t object;
        ObjectSizes sizes;
    };

    static ObjectSizes unpacked(std::uint32_t word) {
        ObjectSizes sizes;
        sizes.memory = std::uint64_t{word >> 16} * 8;
        sizes.size = sizes.memory + half - (word & 0xffff);
        return sizes;
    }
    const ObjectSizes& wide(std::uint32_t object) const {
        return std::lower_bound(wide_.begin(), wide_.end(), object,
                                [](const Wide& w, std::uint32_t o) { return w.object < o; })
            ->sizes;
    }

    std::vector<std::uint32_t> packed_;
    std::vector<Wide> wide_;  // by object
};

}  // namespace heapsift
