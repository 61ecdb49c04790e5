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
    struct Wide;

public:
    /// Stands for a number that is in the list.
    static constexpr Narrow in_list = std::numeric_limits<Narrow>::max();

    CompactColumn() = default;
    /// Numbers whose lower and upper halves were computed each by itself. Without upper halves, all numbers
    /// must be less than the largest value of `Narrow`.
    explicit CompactColumn(std::vector<Narrow> lower, const std::vector<Narrow>& upper = {}) {
        std::vector<Wide> wide;
        for (std::size_t at = 0; at < upper.size(); ++at) {
            if (upper[at] == 0 && lower[at] != in_list) continue;
            wide.push_back({at, std::uint64_t{upper[at]} << std::numeric_limits<Narrow>::digits | lower[at]});
            lower[at] = in_list;
        }
        narrow_ = std::move(lower);
        wide_ = std::move(wide);
    }

    std::size_t size() const { return narrow_.size(); }
    bool empty() const { return narrow_.empty(); }
    /// A binary search for the few that are in the list.
    std::uint64_t operator[](std::size_t at) const {
        const Narrow value = narrow_[at];
        return value == in_list ? find(at)->value : value;
    }
    /// Prefetches what operator[] will read, but for the list.
    void fetch(std::size_t at) const { __builtin_prefetch(&narrow_[at]); }
    /// Bytes of this process's own memory.
    std::uint64_t memory_bytes() const { return narrow_.memory_bytes() + wide_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), of so many numbers, none larger than `most`.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t count,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
        part.column(self.wide_, [&](const Wide& one, std::size_t at) {
            return one.at < count && one.value <= most && (at == 0 || (&one - 1)->at < one.at);
        });
        part.column(self.narrow_, [&](Narrow value, std::size_t at) {
            if (value != in_list) return value <= most;
            const Wide* wide = self.find(at);
            return wide != self.wide_.end() && wide->at == at;
        });
        part.require(self.narrow_.size() == count, "a column has another length");
    }

    /// Adds numbers one after the other.
    class Builder {
    public:
        void reserve(std::size_t count) { narrow_.reserve(count); }
        void clear() {
            narrow_.clear();
            wide_.clear();
        }
        std::size_t size() const { return narrow_.size(); }
        std::uint64_t operator[](std::size_t at) const {
            return narrow_[at] == in_list ? find_in(wide_, at)->value : narrow_[at];
        }
        /// A part of what another has: [from, to).
        void append(const Builder& other, std::size_t from, std::size_t to) {
            for (auto wide = find_in(other.wide_, from); wide != other.wide_.end() && wide->at < to; ++wide)
                wide_.push_back({wide->at - from + narrow_.size(), wide->value});
            narrow_.insert(narrow_.end(), other.narrow_.begin() + static_cast<std::ptrdiff_t>(from),
                           other.narrow_.begin() + static_cast<std::ptrdiff_t>(to));
        }
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
    struct Wide {
        std::uint64_t at, value;
    };
    template <class Wides>
    static auto find_in(const Wides& wides, std::size_t at) {
        return std::lower_bound(wides.begin(), wides.end(), at,
                                [](const Wide& wide, std::size_t place) { return wide.at < place; });
    }
    const Wide* find(std::size_t at) const { return find_in(wide_, at); }

    Stored<Narrow> narrow_;
    Stored<Wide> wide_;  // by place
};

}  // namespace heapsift
