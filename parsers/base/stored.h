#pragma once

// Numbers of one kind, one after the other, that were computed or that lie in a mapped file: whoever reads
// them need not know which.
//
// A column is filled as a vector and becomes Stored when it is finished. From then on it does not change, so
// that the same column can be read where it lies in an index (parsers/index), without a copy.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapsift {

/// Read-only, and as fast as a vector. It moves and does not copy: columns have millions of values.
template <class T>
class Stored {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;

    Stored() = default;
    /// Takes over what was computed.
    Stored(std::vector<T> computed) : own_(std::move(computed)), values_(own_) {}
    /// Values that lie in `file`, and stay there as long as this does.
    Stored(std::span<const T> values, std::shared_ptr<const void> file)
        : file_(std::move(file)), values_(values) {}

    Stored(Stored&& other) noexcept { *this = std::move(other); }
    Stored& operator=(Stored&& other) noexcept {
        own_ = std::move(other.own_);  // a vector's values stay where they are
        file_ = std::move(other.file_);
        values_ = std::exchange(other.values_, {});
        return *this;
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;

    const T& operator[](std::size_t at) const { return values_[at]; }
    const T* data() const { return values_.data(); }
    std::size_t size() const { return values_.size(); }
    bool empty() const { return values_.empty(); }
    const T* begin() const { return values_.data(); }
    const T* end() const { return values_.data() + values_.size(); }

    /// The vector, to fill it or to go on filling it; `filled` must follow before what was added is read.
    /// Only for what is computed.
    std::vector<T>& fill() { return own_; }
    void filled() { values_ = own_; }

    /// Bytes of this process's own memory: none for what lies in a file.
    std::uint64_t memory_bytes() const { return own_.capacity() * sizeof(T); }

private:
    std::vector<T> own_;
    std::shared_ptr<const void> file_;
    std::span<const T> values_;
};

}  // namespace heapsift
