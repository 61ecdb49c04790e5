#pragma once

// How something is written as a part of an index, and read back, by one description of its fields:
//
//     template <class Self, class Part>
//     static void fields(Self& self, Part& part) {
//         part.number(self.dangling_);
//         part.column(self.targets_, [n](ObjectId target) { return target < n; });
//     }
//
// A column is a blob of its own, which is mapped and read where it lies. Everything else goes into the part's
// first blob, in the order of the fields. When reading, every length is checked against the bytes that are
// there, and what cannot be true is IndexDamage. The values of a column are compared with its condition, once
// for each state of the file (index_file.h): so the condition must say all that later reading relies on.

#include "parsers/base/stored.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace heapsift {

/// A part does not read, with the reason for people.
class IndexDamage : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A number, an id, an address, or several of these without padding: equal values are equal bytes, and no
/// byte is left over from something else.
template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>;

/// What a description of fields is given: filled when reading, only read when writing.
template <class Part, class T>
using FieldsOf = std::conditional_t<std::remove_reference_t<Part>::reading, T, const T>;

/// Collects what a part consists of. Columns are not copied: they must stay until it is written.
class PartWriter {
public:
    explicit PartWriter(std::string name) : name_(std::move(name)) {}

    static constexpr bool reading = false;
    const std::string& name() const { return name_; }

    template <PlainValue T>
    void number(const T& value) {
        const auto* at = reinterpret_cast<const std::byte*>(&value);
        small_.insert(small_.end(), at, at + sizeof value);
    }
    void text(const std::string& value) {
        number(static_cast<std::uint64_t>(value.size()));
        const auto* at = reinterpret_cast<const std::byte*>(value.data());
        small_.insert(small_.end(), at, at + value.size());
    }
    /// A few things, each by `field(item, part)`.
    template <class T, class Field>
    void list(const std::vector<T>& items, Field&& field) {
        number(static_cast<std::uint64_t>(items.size()));
        for (const T& item : items) field(item, *this);
    }
    template <PlainValue T, class Holds>
    void column(const Stored<T>& values, Holds&&) {
        columns_.push_back(std::as_bytes(std::span<const T>(values)));
    }
    template <PlainValue T, class Holds>
    void column(const Stored<T>&& values, Holds&&) = delete;  // it would be gone when it is written
    /// When reading, asks for something of the whole part; here nothing.
    void require(bool, const char*) {}

    /// The small fields, then each column.
    std::vector<std::span<const std::byte>> blobs() const;

private:
    std::string name_;
    std::vector<std::byte> small_;
    std::vector<std::span<const std::byte>> columns_;
};

/// Reads them back in the same order.
class PartReader {
public:
    /// `check`: the values are not known to be right yet. `file` keeps the blobs in memory.
    PartReader(std::vector<std::span<const std::byte>> blobs, bool check, std::shared_ptr<const void> file);

    static constexpr bool reading = true;

    template <PlainValue T>
    void number(T& value) {
        std::memcpy(&value, take(sizeof value), sizeof value);
    }
    void number(bool& value) {
        const auto byte = std::to_integer<unsigned>(*take(1));
        require(byte <= 1, "a value is neither true nor false");
        value = byte == 1;
    }
    void text(std::string& value);
    template <class T, class Field>
    void list(std::vector<T>& items, Field&& field) {
        std::uint64_t count = 0;
        number(count);
        require(count <= small_.size(), "a list is longer than its part");  // an item takes a byte at least
        items.clear();
        items.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) field(items.emplace_back(), *this);
    }
    /// `holds(value)` for each value; with two parameters, (value, its place).
    template <PlainValue T, class Holds>
    void column(Stored<T>& values, Holds&& holds) {
        const std::span<const std::byte> bytes = next_column(alignof(T), sizeof(T));
        const std::span<const T> all(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
        if (check_)
            for (std::size_t i = 0; i < all.size(); ++i) {
                if constexpr (std::invocable<Holds&, const T&, std::size_t>)
                    require(holds(all[i], i), "a value is out of range");
                else
                    require(holds(all[i]), "a value is out of range");
            }
        values = Stored<T>(all, file_);
    }
    /// True if the values are not known to be right yet: time for what else they can be compared with.
    bool checks() const { return check_; }
    void require(bool holds, const char* else_why) const {
        if (!holds) throw IndexDamage(else_why);
    }
    /// Nothing may be left.
    void finish() const;

private:
    const std::byte* take(std::uint64_t bytes);
    std::span<const std::byte> next_column(std::size_t alignment, std::size_t width);

    std::span<const std::byte> small_;
    std::vector<std::span<const std::byte>> columns_;
    std::size_t next_ = 0;
    bool check_;
    std::shared_ptr<const void> file_;
};

/// The condition of a column whose values may be anything.
inline constexpr auto any_value = [](const auto&) { return true; };

}  // namespace heapsift
