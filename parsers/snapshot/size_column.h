#pragma once

// The sizes of all objects: computed once, and kept in four bytes per object.
//
// Nearly every object has less than 512 KiB of memory, a multiple of eight, and a size that differs from it
// by less than 32 KiB: the two numbers fit into 16 bits each. Objects that do not fit, that have array data,
// bytes that were not saved, or damage are in a separate list, by object.

#include "parsers/base/stored.h"
#include "parsers/cpython/object_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

class SizeColumn {
public:
    SizeColumn() = default;

    std::size_t count() const { return packed_.size(); }
    /// Two nanoseconds; a binary search for the few objects in the list.
    ObjectSizes operator[](std::uint32_t object) const {
        const std::uint32_t word = packed_[object];
        return word == in_list ? unpacked(wide(object)) : unpacked(word);
    }
    std::uint64_t memory(std::uint32_t object) const {
        const std::uint32_t word = packed_[object];
        return word == in_list ? wide(object).memory : std::uint64_t{word >> 16} * 8;
    }
    std::uint64_t memory_bytes() const { return packed_.memory_bytes() + wide_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        part.column(self.wide_, [&](const Wide& one, std::size_t at) {
            return one.object < objects && one.damaged <= 1 && (at == 0 || before(one).object < one.object);
        });
        part.column(self.packed_, [&](std::uint32_t word, std::size_t object) {
            return word != in_list || self.listed(static_cast<std::uint32_t>(object));
        });
        part.require(self.packed_.size() == objects, "not every object has a size");
    }

private:
    friend class SizeColumnBuilder;
    static constexpr std::uint32_t in_list = 0xffffffff;
    static constexpr std::uint64_t half = 1 << 15;
    struct Wide {
        std::uint64_t object;
        std::uint64_t size, memory, array_data, not_saved;
        std::uint64_t damaged;  // 0 or 1
    };

    static ObjectSizes unpacked(std::uint32_t word) {
        ObjectSizes sizes;
        sizes.memory = std::uint64_t{word >> 16} * 8;
        sizes.size = sizes.memory + half - (word & 0xffff);
        return sizes;
    }
    static ObjectSizes unpacked(const Wide& wide) {
        ObjectSizes sizes;
        sizes.size = wide.size;
        sizes.memory = wide.memory;
        sizes.array_data = wide.array_data;
        sizes.not_saved = wide.not_saved;
        sizes.damaged = wide.damaged != 0;
        return sizes;
    }
    const Wide* find(std::uint32_t object) const {
        return std::lower_bound(wide_.begin(), wide_.end(), object,
                                [](const Wide& w, std::uint32_t o) { return w.object < o; });
    }
    const Wide& wide(std::uint32_t object) const { return *find(object); }
    bool listed(std::uint32_t object) const {
        const Wide* at = find(object);
        return at != wide_.end() && at->object == object;
    }
    /// The one before `one` while a column is read.
    static const Wide& before(const Wide& one) { return *(&one - 1); }

    Stored<std::uint32_t> packed_;
    Stored<Wide> wide_;  // by object
};

/// Fills a SizeColumn, object by object.
class SizeColumnBuilder {
public:
    void reserve(std::size_t objects) { packed_.reserve(objects); }
    /// Adds the sizes of the next object. (Its block_size is not kept.)
    void add(const ObjectSizes& sizes) {
        const std::uint64_t less = sizes.memory - sizes.size + SizeColumn::half;
        const bool fits = sizes.memory % 8 == 0 && sizes.memory / 8 < 0xffff && less < 2 * SizeColumn::half &&
                          sizes.array_data == 0 && sizes.not_saved == 0 && !sizes.damaged;
        if (!fits)
            wide_.push_back({packed_.size(), sizes.size, sizes.memory, sizes.array_data, sizes.not_saved,
                             sizes.damaged ? std::uint64_t{1} : 0});
        packed_.push_back(fits ? static_cast<std::uint32_t>(sizes.memory / 8 << 16 | less)
                               : SizeColumn::in_list);
    }
    /// Adds what another builder has, and empties that.
    void take(SizeColumnBuilder& next) {
        for (SizeColumn::Wide& wide : next.wide_) wide.object += packed_.size();
        wide_.insert(wide_.end(), next.wide_.begin(), next.wide_.end());
        packed_.insert(packed_.end(), next.packed_.begin(), next.packed_.end());
        next.wide_.clear();
        next.packed_.clear();
    }
    SizeColumn finish() {
        SizeColumn column;
        column.packed_ = std::move(packed_);
        column.wide_ = std::move(wide_);
        return column;
    }

private:
    std::vector<std::uint32_t> packed_;
    std::vector<SizeColumn::Wide> wide_;
};

}  // namespace heapsift
