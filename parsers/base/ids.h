#pragma once

// Numbers that stand for things: an object, a type, a node of a graph.
//
// The problem: all of them are 32 bits wide and count from 0, so a type's number used as an object's finds
// something in the object's table. The idea: each kind has its own type. An id converts to a plain number (to
// index, count or print), but a number becomes an id only where the program says so, and the compiler refuses
// an id of another kind: as an argument, in an assignment, in a comparison, in a Column.

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapsift {

/// The number of one thing; `Kind` is only a name. 4 bytes. An id that was never set stands for nothing, and
/// is larger than all others.
template <class Kind>
class Id {
public:
    constexpr Id() = default;
    template <std::integral Number>
    constexpr explicit Id(Number number) : number_(static_cast<std::uint32_t>(number)) {}

    constexpr operator std::uint32_t() const { return number_; }
    constexpr explicit operator bool() const = delete;  // 0 is an id like any other

    constexpr Id& operator++() {
        ++number_;
        return *this;
    }

    friend constexpr bool operator==(Id, Id) = default;
    friend constexpr auto operator<=>(Id, Id) = default;
    template <class Other>
    requires(!std::is_same_v<Kind, Other>) friend constexpr bool operator==(Id, Id<Other>) = delete;
    template <class Other>
    requires(!std::is_same_v<Kind, Other>) friend constexpr auto operator<=>(Id, Id<Other>) = delete;

private:
    std::uint32_t number_ = 0xffffffff;
};

/// The ids from 0 up to `count`, in order.
template <class I>
class IdRange {
public:
    class iterator {
    public:
        using value_type = I;
        using reference = I;
        using pointer = void;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(I at) : at_(at) {}
        I operator*() const { return at_; }
        iterator& operator++() {
            ++at_;
            return *this;
        }
        iterator operator++(int) { return std::exchange(*this, iterator(I(at_ + 1U))); }
        bool operator==(const iterator&) const = default;

    private:
        I at_;
    };

    explicit IdRange(std::size_t count) : end_(I(count)) {}
    iterator begin() const { return iterator(I(0)); }
    iterator end() const { return iterator(end_); }

private:
    I end_;
};

/// What is known of each thing of a kind, by its id: a vector that ids of other kinds cannot index.
template <class I, class T>
class Column {
public:
    using value_type = T;

    Column() = default;
    explicit Column(std::size_t count, const T& value = T()) : values_(count, value) {}
    explicit Column(std::vector<T> values) : values_(std::move(values)) {}

    decltype(auto) operator[](I id) { return values_[id]; }
    decltype(auto) operator[](I id) const { return values_[id]; }
    template <class Other>
    requires(!std::is_same_v<Other, I>) void operator[](Other) const = delete;

    std::size_t size() const { return values_.size(); }
    bool empty() const { return values_.empty(); }
    IdRange<I> ids() const { return IdRange<I>(values_.size()); }
    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    void push_back(T value) { values_.push_back(std::move(value)); }
    void reserve(std::size_t count) { values_.reserve(count); }
    void resize(std::size_t count, const T& value = T()) { values_.resize(count, value); }
    void clear() { values_.clear(); }
    /// The plain vector, for code that goes through all of it.
    const std::vector<T>& values() const { return values_; }
    std::vector<T>& values() { return values_; }

private:
    std::vector<T> values_;
};

}  // namespace heapsift

template <class Kind>
struct std::hash<heapsift::Id<Kind>> {
    std::size_t operator()(heapsift::Id<Kind> id) const noexcept { return std::hash<std::uint32_t>()(id); }
};
