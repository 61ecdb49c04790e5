#pragma once

// A column of numbers of which there are few different ones: the labels of ten million objects. Two bytes each, until one
// of them needs more; then four.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heapsift {

/// Numbers below 2^32 - 1, by place, that are set in any order.
class NarrowNumbers {
public:
    /// Stands for no number.
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    NarrowNumbers() = default;
    /// So many, all of them `none` or 0.
    explicit NarrowNumbers(std::size_t count, std::uint32_t all = none)
        : narrow_(count, all == none ? narrow_none : std::uint16_t{0}) {}

    std::size_t size() const { return std::max(narrow_.size(), wide_.size()); }
    bool empty() const { return size() == 0; }
    std::uint32_t operator[](std::size_t at) const {
        if (!wide_.empty()) return wide_[at];
        const std::uint16_t number = narrow_[at];
        return number == narrow_none ? none : number;
    }
    void set(std::size_t at, std::uint32_t number) {
        if (wide_.empty() && number >= narrow_none && number != none) widen();
        if (wide_.empty())
            narrow_[at] = number == none ? narrow_none : static_cast<std::uint16_t>(number);
        else
            wide_[at] = number;
    }
    /// Prefetches what these two will touch.
    void fetch(std::size_t at) const {
        if (wide_.empty())
            __builtin_prefetch(&narrow_[at], 1);
        else
            __builtin_prefetch(&wide_[at], 1);
    }

private:
    static constexpr std::uint16_t narrow_none = std::numeric_limits<std::uint16_t>::max();
    void widen() {
        std::vector<std::uint32_t> wide(narrow_.size());
        for (std::size_t at = 0; at < wide.size(); ++at) wide[at] = (*this)[at];
        wide_.swap(wide);
        narrow_ = std::vector<std::uint16_t>();
    }

    std::vector<std::uint16_t> narrow_;
    std::vector<std::uint32_t> wide_;  // instead, once one is too large
};

}  // namespace heapsift
