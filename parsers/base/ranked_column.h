#pragma once

// Numbers of which nearly all fit into two bytes, whatever the others are: bytes retained, of which a list's are many
// and those of what is in it few.

#include "parsers/base/compact_column.h"
#include "parsers/base/ranked_set.h"
#include "parsers/base/stored.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heapsift {

/// Read-only. Two and a quarter bytes for each number, and four more for each that is large; or four for all, where
/// that is less. (CompactColumn looks for those that are large in a sorted list, and takes 16 bytes for each: for
/// where there are next to none.)
class RankedColumn {
public:
    RankedColumn() = default;
    /// Of `count` numbers: number(place) is asked once for each, twice where many are large.
    template <class F>
    RankedColumn(std::size_t count, F&& number) : size_(count) {
        RankedSet large(count);
        std::vector<std::uint16_t> narrow(count);
        CompactColumn<std::uint32_t>::Builder values;
        std::size_t at = 0;
        for (; at < count && values.size() <= count / most_large; ++at) {
            const std::uint64_t value = number(at);
            narrow[at] = static_cast<std::uint16_t>(value);
            if (value < is_large) continue;
            narrow[at] = is_large;
            large.add(at);
            values.push_back(value);
        }
        if (at == count) {
            large.finish();
            narrow_ = std::move(narrow);
            large_ = std::move(large);
        } else {
            values.clear();
            values.reserve(count);
            for (at = 0; at < count; ++at) values.push_back(number(at));
        }
        values_ = values.finish();
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint64_t operator[](std::size_t at) const {
        if (narrow_.empty()) return values_[at];
        const std::uint16_t value = narrow_[at];
        return value == is_large ? values_[large_.rank(at)] : value;
    }
    /// Bytes of this process's own memory.
    std::uint64_t memory_bytes() const {
        return narrow_.memory_bytes() + large_.memory_bytes() + values_.memory_bytes();
    }

    /// As a part of an index (parsers/index/part.h), of so many numbers.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t count) {
        std::uint64_t narrow = self.narrow_.size();
        part.number(narrow);
        part.require(narrow == 0 || narrow == count, "a column has another length");
        RankedSet::fields(self.large_, part, narrow);
        part.column(self.narrow_, [&](std::uint16_t value, std::size_t at) {
            return value != is_large || self.large_.has(at);
        });
        part.require(self.narrow_.size() == narrow, "a column has another length");
        CompactColumn<std::uint32_t>::fields(self.values_, part, narrow == 0 ? count : self.large_.count());
        if constexpr (Part::reading) self.size_ = count;
    }

private:
    static constexpr std::uint16_t is_large = std::numeric_limits<std::uint16_t>::max();
    static constexpr std::size_t most_large = 3;  // one in so many: above that, four bytes are less for all

    std::size_t size_ = 0;
    Stored<std::uint16_t> narrow_;  // is_large: see values_; empty where all are there
    RankedSet large_;
    CompactColumn<std::uint32_t> values_;  // by place among the large ones; or all
};

}  // namespace heapsift
