#pragma once

// The sizes of all objects: computed once, and kept in two bytes per object.
//
// Nearly every object has less than 512 KiB of memory, a multiple of eight, and a size that differs from it
// by less than 32 KiB: the two numbers fit into 16 bits each. A heap has few thousand such pairs, so that an
// object needs only the number of its pair. Objects that do not fit, that have array data, bytes that were not
// saved, or damage are in a separate list, by object; so are those whose pair came after 65,535 others, which
// are large on the average.

#include "parsers/base/stored.h"
#include "parsers/cpython/object_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {

class SizeColumn {
public:
    SizeColumn() = default;

    std::size_t count() const { return codes_.size(); }
    /// Two nanoseconds; a binary search for the few objects in the list.
    ObjectSizes operator[](std::uint32_t object) const {
        const std::uint16_t code = codes_[object];
        return code == in_list ? unpacked(wide(object)) : unpacked(pairs_[code]);
    }
    std::uint64_t memory(std::uint32_t object) const {
        const std::uint16_t code = codes_[object];
        return code == in_list ? wide(object).memory : std::uint64_t{pairs_[code] >> 16} * 8;
    }
    /// visit(object, sizes) for those in the list, in order: all of 512 KiB and more are there.
    template <class F>
    void visit_listed(F&& visit) const {
        for (const Wide& one : wide_) visit(static_cast<std::uint32_t>(one.object), unpacked(one));
    }
    /// Prefetches what these two will read.
    void fetch(std::uint32_t object) const { __builtin_prefetch(&codes_[object]); }
    std::uint64_t memory_bytes() const { return codes_.memory_bytes() + wide_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        part.column(self.wide_, [&](const Wide& one, std::size_t at) {
            return one.object < objects && one.damaged <= 1 && (at == 0 || before(one).object < one.object);
        });
        part.column(self.pairs_, [](std::uint32_t) { return true; });
        part.column(self.codes_, [&](std::uint16_t code, std::size_t object) {
            return code == in_list ? self.listed(static_cast<std::uint32_t>(object))
                                   : code < self.pairs_.size();
        });
        part.require(self.codes_.size() == objects, "not every object has a size");
    }

private:
    friend class SizeColumnBuilder;
    static constexpr std::uint16_t in_list = 0xffff;
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

    Stored<std::uint32_t> pairs_;  // in the order in which objects have them first
    Stored<std::uint16_t> codes_;  // by object: in `pairs_`
    Stored<Wide> wide_;            // by object
};

/// Fills a SizeColumn, object by object.
class SizeColumnBuilder {
public:
    void reserve(std::size_t objects) { codes_.reserve(objects); }
    /// Adds the sizes of the next object. (Its block_size is not kept.)
    void add(const ObjectSizes& sizes) {
        const std::uint64_t less = sizes.memory - sizes.size + SizeColumn::half;
        const bool fits = sizes.memory % 8 == 0 && sizes.memory / 8 < 0xffff && less < 2 * SizeColumn::half &&
                          sizes.array_data == 0 && sizes.not_saved == 0 && !sizes.damaged;
        const std::uint16_t code =
            fits ? code_of(static_cast<std::uint32_t>(sizes.memory / 8 << 16 | less)) : SizeColumn::in_list;
        if (code == SizeColumn::in_list)
            wide_.push_back({codes_.size(), sizes.size, sizes.memory, sizes.array_data, sizes.not_saved,
                             sizes.damaged ? std::uint64_t{1} : 0});
        codes_.push_back(code);
    }
    /// Adds what another builder has, and empties that, which keeps its room.
    void take(SizeColumnBuilder& next) {
        std::vector<std::uint16_t> codes;
        codes.reserve(next.pairs_.size());
        for (const std::uint32_t pair : next.pairs_) codes.push_back(code_of(pair));
        auto wide = next.wide_.begin();
        for (std::size_t i = 0; i < next.codes_.size(); ++i) {
            const std::uint16_t code = next.codes_[i];
            if (code != SizeColumn::in_list && codes[code] != SizeColumn::in_list) {
                codes_.push_back(codes[code]);
                continue;
            }
            if (code == SizeColumn::in_list) {
                wide_.push_back(*wide++);
            } else {
                const ObjectSizes sizes = SizeColumn::unpacked(next.pairs_[code]);
                wide_.push_back({0, sizes.size, sizes.memory, 0, 0, 0});
            }
            wide_.back().object = codes_.size();
            codes_.push_back(SizeColumn::in_list);
        }
        next.clear();
    }
    SizeColumn finish() {
        SizeColumn column;
        column.pairs_ = std::move(pairs_);
        column.codes_ = std::move(codes_);
        column.wide_ = std::move(wide_);
        return column;
    }

private:
    static constexpr std::size_t recent = 1024;
    void clear() {
        std::fill(recent_.begin(), recent_.end(), Numbered{});
        numbers_.clear();
        pairs_.clear();
        codes_.clear();
        wide_.clear();
    }
    /// The pair's number; a new one if it has none, and `in_list` if there are none left.
    std::uint16_t code_of(std::uint32_t pair) {
        Numbered& last = recent_[(pair ^ pair >> 13) % recent];
        if (last.pair == pair && last.code != SizeColumn::in_list) return last.code;
        const auto known = numbers_.find(pair);
        if (known != numbers_.end()) {
            last = {pair, known->second};
        } else if (pairs_.size() < SizeColumn::in_list) {
            last = {pair, static_cast<std::uint16_t>(pairs_.size())};
            numbers_.emplace(pair, last.code);
            pairs_.push_back(pair);
        } else {
            return SizeColumn::in_list;
        }
        return last.code;
    }

    struct Numbered {
        std::uint32_t pair = 0;
        std::uint16_t code = SizeColumn::in_list;
    };
    std::vector<Numbered> recent_ = std::vector<Numbered>(recent);  // those asked for lately, by their bits
    std::unordered_map<std::uint32_t, std::uint16_t> numbers_;
    std::vector<std::uint32_t> pairs_;
    std::vector<std::uint16_t> codes_;
    std::vector<SizeColumn::Wide> wide_;
};

}  // namespace heapsift
