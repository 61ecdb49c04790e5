#pragma once

// Numbers of which most are 0: two bits for each of these, and four bytes more for each of the others.

#include "parsers/base/compact_column.h"
#include "parsers/base/ranked_set.h"

#include <cstddef>
#include <cstdint>

namespace heapsift {

/// Read-only.
class SparseColumn {
public:
    SparseColumn() = default;
    /// Of `count` numbers: number(place) is asked twice for each.
    template <class F>
    SparseColumn(std::size_t count, F&& number) : size_(count), others_(count) {
        for (std::size_t at = 0; at < count; ++at)
            if (number(at) != 0) others_.add(at);
        others_.finish();
        CompactColumn<std::uint32_t>::Builder values;
        values.reserve(others_.count());
        for (std::size_t at = 0; at < count; ++at)
            if (const std::uint64_t value = number(at); value != 0) values.push_back(value);
        values_ = values.finish();
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint64_t operator[](std::size_t at) const { return others_.has(at) ? values_[others_.rank(at)] : 0; }
    std::uint64_t memory_bytes() const { return others_.memory_bytes() + values_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), of so many numbers.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t count) {
        RankedSet::fields(self.others_, part, count);
        CompactColumn<std::uint32_t>::fields(self.values_, part, self.others_.count());
        if constexpr (Part::reading) self.size_ = count;
    }

private:
    std::size_t size_ = 0;
    RankedSet others_;
    CompactColumn<std::uint32_t> values_;
};

}  // namespace heapsift
