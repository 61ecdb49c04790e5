#pragma once

// Ascending numbers of which neighbours are near, in two or four bytes each instead of eight.
//
// A number is kept as its distance from the first of its block of 256; the first ones are few, and stay in the
// cache. Where a distance does not fit, the block keeps its numbers as they are: a gap between two mappings of
// the address space, a list of 100,000 among short ones.

#include "parsers/base/stored.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// Numbers that somebody else keeps, who may move but not change them. `Number` is made of 64 bits: an Address.
template <class Narrow, class Number = std::uint64_t>
class AscendingView {
public:
    static constexpr std::size_t block = 256;
    /// In the place of a block's first number: the block keeps its numbers as they are, from the place on that
    /// the other bits say.
    static constexpr std::uint64_t far = std::uint64_t{1} << 63;

    AscendingView() = default;
    AscendingView(std::span<const std::uint64_t> bases, std::span<const Narrow> distances,
                  std::span<const std::uint64_t> far_numbers)
        : bases_(bases.data()),
          distances_(distances.data()),
          far_(far_numbers.data()),
          size_(distances.size()) {}

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Number operator[](std::size_t at) const {
        const std::uint64_t base = bases_[at / block];
        return Number(base & far ? far_[(base & ~far) + at % block] : base + distances_[at]);
    }
    /// Copies [from, to): a third of the time that as many single ones take.
    void copy(std::size_t from, std::size_t to, Number* into) const {
        while (from < to) {
            const std::uint64_t base = bases_[from / block];
            const std::size_t end = std::min(to, (from / block + 1) * block);
            if (base & far)
                for (; from < end; ++from) *into++ = (*this)[from];
            else
                for (; from < end; ++from) *into++ = Number(base + distances_[from]);
        }
    }
    /// Prefetches what operator[] will read.
    void fetch(std::size_t at) const {
        __builtin_prefetch(&bases_[at / block]);
        __builtin_prefetch(&distances_[at]);
    }

    class iterator {
    public:
        using value_type = Number;
        using reference = Number;
        using pointer = void;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::random_access_iterator_tag;

        iterator() = default;
        iterator(const AscendingView& all, std::size_t at) : all_(all), at_(at) {}
        Number operator*() const { return all_[at_]; }
        Number operator[](std::ptrdiff_t steps) const { return *(*this + steps); }
        iterator& operator+=(std::ptrdiff_t steps) {
            at_ += static_cast<std::size_t>(steps);
            return *this;
        }
        iterator& operator-=(std::ptrdiff_t steps) { return *this += -steps; }
        iterator& operator++() { return *this += 1; }
        iterator& operator--() { return *this -= 1; }
        iterator operator++(int) { return std::exchange(*this, *this + 1); }
        iterator operator--(int) { return std::exchange(*this, *this - 1); }
        friend iterator operator+(iterator at, std::ptrdiff_t steps) { return at += steps; }
        friend iterator operator+(std::ptrdiff_t steps, iterator at) { return at += steps; }
        friend iterator operator-(iterator at, std::ptrdiff_t steps) { return at -= steps; }
        friend std::ptrdiff_t operator-(const iterator& a, const iterator& b) {
            return static_cast<std::ptrdiff_t>(a.at_) - static_cast<std::ptrdiff_t>(b.at_);
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }
        friend auto operator<=>(const iterator& a, const iterator& b) { return a.at_ <=> b.at_; }

    private:
        AscendingView all_;
        std::size_t at_ = 0;
    };
    iterator begin() const { return {*this, 0}; }
    iterator end() const { return {*this, size_}; }

private:
    const std::uint64_t* bases_ = nullptr;  // by block
    const Narrow* distances_ = nullptr;
    const std::uint64_t* far_ = nullptr;
    std::size_t size_ = 0;
};

template <class Narrow, class Number>
class AscendingBuilder;

/// The same that keeps its numbers. Read-only; it moves and does not copy, and views of it stay right.
template <class Narrow, class Number = std::uint64_t>
class AscendingColumn {
public:
    using View = AscendingView<Narrow, Number>;
    using value_type = Number;

    AscendingColumn() = default;
    AscendingColumn(const std::vector<Number>& numbers) : AscendingColumn(of(numbers)) {}

    View view() const {
        return {{bases_.data(), bases_.size()}, {distances_.data(), size()}, {far_.data(), far_.size()}};
    }
    operator View() const { return view(); }
    std::size_t size() const { return distances_.size(); }
    bool empty() const { return distances_.empty(); }
    Number operator[](std::size_t at) const { return view()[at]; }
    void fetch(std::size_t at) const { view().fetch(at); }
    typename View::iterator begin() const { return view().begin(); }
    typename View::iterator end() const { return view().end(); }
    /// Bytes of this process's own memory.
    std::uint64_t memory_bytes() const {
        return bases_.memory_bytes() + distances_.memory_bytes() + far_.memory_bytes();
    }

    /// As a part of an index (parsers/index/part.h): each number is larger than the one before by `step` at
    /// least, and none larger than `most`.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::uint64_t step, std::uint64_t most) {
        constexpr std::size_t block = View::block;
        constexpr std::uint64_t far = View::far;
        part.column(self.far_, [](std::uint64_t) { return true; });
        part.column(self.bases_, [&](std::uint64_t base) {
            return !(base & far) ||
                   ((base & ~far) <= self.far_.size() && block <= self.far_.size() - (base & ~far));
        });
        std::uint64_t before = 0;
        part.column(self.distances_, [&](Narrow distance, std::size_t at) {
            if (at / block >= self.bases_.size()) return false;
            const std::uint64_t base = self.bases_[at / block];
            const std::uint64_t number = base & far ? self.far_[(base & ~far) + at % block] : base + distance;
            const std::uint64_t last = std::exchange(before, number);
            return number <= most && (at == 0 || (number >= last && number - last >= step));
        });
        part.require(self.bases_.size() == self.size() / block + (self.size() % block != 0),
                     "a block of ascending numbers has no first one");
    }

private:
    friend class AscendingBuilder<Narrow, Number>;
    static AscendingColumn of(const std::vector<Number>& numbers);

    Stored<std::uint64_t> bases_;  // by block
    Stored<Narrow> distances_;     // by number; 0 in a far block
    Stored<std::uint64_t> far_;    // of far blocks, block by block
};

/// Fills it, number by number.
template <class Narrow, class Number = std::uint64_t>
class AscendingBuilder {
public:
    void reserve(std::size_t count) {
        distances_.reserve(count);
        bases_.reserve(count / block + 1);
    }
    void clear() {
        bases_.clear();
        far_.clear();
        distances_.clear();
    }
    std::size_t size() const { return distances_.size(); }
    /// Not less than the one before.
    void push_back(Number value) {
        const std::uint64_t number = to_bits(value);
        if (distances_.size() % block == 0) bases_.push_back(number & far ? far | far_.size() : number);
        if (!(bases_.back() & far) && number - bases_.back() > std::numeric_limits<Narrow>::max()) make_far();
        const bool is_far = bases_.back() & far;
        if (is_far) far_.push_back(number);
        distances_.push_back(is_far ? Narrow{0} : static_cast<Narrow>(number - bases_.back()));
    }
    /// Several, which are in order.
    void append(std::span<const Number> numbers) {
        while (!numbers.empty()) {
            const std::size_t used = distances_.size() % block;
            const std::span<const Number> some = numbers.first(std::min(numbers.size(), block - used));
            numbers = numbers.subspan(some.size());
            const std::uint64_t base = used == 0 ? to_bits(some.front()) : bases_.back();
            std::uint64_t distances = base & far;
            for (const Number number : some) distances |= to_bits(number) - base;
            if (distances > std::numeric_limits<Narrow>::max()) {
                for (const Number number : some) push_back(number);
                continue;
            }
            if (used == 0) bases_.push_back(base);
            const std::size_t before = distances_.size();
            distances_.resize(before + some.size());
            for (std::size_t i = 0; i < some.size(); ++i)
                distances_[before + i] = static_cast<Narrow>(to_bits(some[i]) - base);
        }
    }
    /// The same of a part of what another has: [from, to).
    void append(const AscendingBuilder& other, std::size_t from, std::size_t to) {
        Number some[block];
        while (from < to) {
            const std::size_t count = std::min(block, to - from);
            other.view().copy(from, from + count, some);
            append(std::span<const Number>(some, count));
            from += count;
        }
    }
    /// Of what is there so far; until the next is added.
    AscendingView<Narrow, Number> view() const { return {bases_, distances_, far_}; }
    Number operator[](std::size_t at) const { return view()[at]; }
    /// Replaces each number by moved(number), in order; the distances must not grow.
    template <class F>
    void move_all(F&& moved) {
        std::uint64_t old_base = 0;
        for (std::size_t at = 0; at < distances_.size(); ++at) {
            std::uint64_t& base = bases_[at / block];
            if (base & far) {
                std::uint64_t& number = far_[(base & ~far) + at % block];
                number = moved(number);
                continue;
            }
            if (at % block == 0) old_base = std::exchange(base, moved(base));
            distances_[at] = static_cast<Narrow>(moved(old_base + distances_[at]) - base);
        }
    }
    AscendingColumn<Narrow, Number> finish() {
        if (!bases_.empty() && (bases_.back() & far))  // a far block is whole
            far_.resize((bases_.back() & ~far) + block, far_.back());
        AscendingColumn<Narrow, Number> column;
        column.bases_ = std::move(bases_);
        column.distances_ = std::move(distances_);
        column.far_ = std::move(far_);
        return column;
    }

private:
    static constexpr std::size_t block = AscendingView<Narrow, Number>::block;
    static constexpr std::uint64_t far = AscendingView<Narrow, Number>::far;

    static std::uint64_t to_bits(Number number) {
        if constexpr (std::is_same_v<Number, std::uint64_t>)
            return number;
        else
            return number.value;
    }
    /// The last block.
    void make_far() {
        const std::uint64_t base = std::exchange(bases_.back(), far | far_.size());
        for (std::size_t at = (bases_.size() - 1) * block; at < distances_.size(); ++at)
            far_.push_back(base + std::exchange(distances_[at], Narrow{0}));
    }

    std::vector<std::uint64_t> bases_, far_;
    std::vector<Narrow> distances_;
};

template <class Narrow, class Number>
AscendingColumn<Narrow, Number> AscendingColumn<Narrow, Number>::of(const std::vector<Number>& numbers) {
    AscendingBuilder<Narrow, Number> builder;
    builder.reserve(numbers.size());
    for (const Number number : numbers) builder.push_back(number);
    return builder.finish();
}

}  // namespace heapsift
