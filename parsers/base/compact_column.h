#pragma once

// Numbers of which nearly all are small, in a byte or in four: those that do not fit stand in a list beside
// them, by place. A column of ten million counts of references then takes 10 MB instead of 80.

#include "parsers/base/stored.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapsift {

/// Read-only. `Narrow` is unsigned; its largest value says that the number is in the list.
template <class Narrow>
class CompactColumn {
    static_assert(std::is_unsigned_v<Narrow>);

public:
    CompactColumn() = default;

    std::size_t size() const { return narrow_.size(); }
    bool empty() const { return narrow_.empty(); }
    /// A binary search for the few that are in the list.
    std::uint64_t operator[](std::size_t at) const {
        const Narrow value = narrow_[at];
        return value == in_list ? find(at)->value : value;
    }
    /// Bytes of this process's own memory.
    std::uint64_t memory_bytes() const { return narrow_.memory_bytes() + wide_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), of so many numbers.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t count) {
        part.column(self.wide_, [&](const Wide& one, std::size_t at) {
            return one.at < count && (at == 0 || (&one - 1)->at < one.at);
        });
        part.column(self.narrow_, [&](Narrow value, std::size_t at) {
            if (value != in_list) return true;
            const Wide* wide = self.find(at);
            return wide != self.wide_.end() && wide->at == at;
        });
        part.require(self.narrow_.size() == count, "a column has another length");
    }

    /// Adds numbers one after the other.
    class Builder {
    public:
        void reserve(std::size_t count) { narrow_.reserve(count); }
        void push_back(std::uint64_t value) {
            if (value >= in_list) wide_.push_back({narrow_.size(), value});
            narrow_.push_back(value >= in_list ? in_list : static_cast<Narrow>(value));
        }
        CompactColumn finish() {
            CompactColumn column;
            column.narrow_ = std::move(narrow_);
            column.wide_ = std::move(wide_);
            return column;
        }

    private:
        std::vector<Narrow> narrow_;
        std::vector<typename CompactColumn::Wide> wide_;  // by place
    };

private:
    static constexpr Narrow in_list = std::numeric_limits<Narrow>::max();
    struct Wide {
        std::uint64_t at, value;
    };
    const Wide* find(std::size_t at) const {
        return std::lower_bound(wide_.begin(), wide_.end(), at,
                                [](const Wide& wide, std::size_t place) { return wide.at < place; });
    }

    Stored<Narrow> narrow_;
    Stored<Wide> wide_;  // by place
};

}  // namespace heapsift
